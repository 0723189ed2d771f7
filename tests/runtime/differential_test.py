"""PyTorch from Python against passnet-worker on the public graphs of moderate size: a part of what `make parity` does.

Quick tier: each 29th graph in the order of their paths, which takes in all sources and dtypes. Full tier: all.
Exit code 77: there is no corpus.
"""
import sys

import parity

from tiers import FULL


if __name__ == "__main__":
    sys.exit(parity.main(["--max-elements", "4e6", "--threads", "2", "--threshold", "100", "--every", "1" if FULL else "29", *sys.argv[1:]]))
