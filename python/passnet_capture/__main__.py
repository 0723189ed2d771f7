"""python -m passnet_capture --out samples [NAME...]: captures the shipped samples anew."""

import argparse
import sys
from pathlib import Path

import torch

from .capture import CaptureError
from .cut import CutError
from .samples import SAMPLES
from .write import write_sample


def main() -> int:
    known = {spec.name: spec for spec in SAMPLES}
    parser = argparse.ArgumentParser(
        prog="python -m passnet_capture",
        description="Cuts the shipped samples out of public models with random weights; nothing is downloaded.",
        epilog="example: python -m passnet_capture --out samples vit_add_layer_norm",
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="samples to write (default: all)")
    parser.add_argument("--out", type=Path, required=True, help="directory that holds the samples")
    parser.add_argument("--list", action="store_true", help="print the names of the samples and stop")
    options = parser.parse_args()
    if options.list:
        print("\n".join(known))
        return 0
    unknown = [name for name in options.names if name not in known]
    if unknown:
        parser.error(f"unknown sample {unknown[0]!r}: expected one of {', '.join(known)}")

    torch.set_num_threads(1)  # sums in one order, whatever the machine
    for name in options.names or known:
        try:
            graphs = write_sample(known[name], options.out)
        except (CaptureError, CutError, ImportError) as error:
            print(f"{name}: error: {error}", file=sys.stderr)
            return 4 if isinstance(error, ImportError) else 3
        print(f"{name}: {len(graphs)} graphs")
    return 0


if __name__ == "__main__":
    sys.exit(main())
