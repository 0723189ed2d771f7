"""PyTorch from Python against passnet-worker on the public graphs of moderate size: a minute of what `make parity` does for all.

Exit code 77: there is no corpus.
"""
import sys

import parity

if __name__ == "__main__":
    sys.exit(parity.main(["--max-elements", "4e6", "--threads", "2", "--threshold", "100", *sys.argv[1:]]))
