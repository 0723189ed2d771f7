"""python -m passnet_capture samples --out samples [NAME...]: captures the shipped samples anew.
python -m passnet_capture serve: what `passnet dataset capture` starts and asks."""

import argparse
import os
import sys
from pathlib import Path

from .causes import no_pytorch


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m passnet_capture",
                                     description="Turns public models with random weights into graphs; nothing is downloaded.")  # fmt: skip
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    samples = commands.add_parser("samples", help="cut the shipped samples out of their models",
                                  epilog="example: python -m passnet_capture samples --out samples vit_add_layer_norm")  # fmt: skip
    samples.add_argument("names", nargs="*", metavar="NAME", help="samples to write (default: all)")
    samples.add_argument("--out", type=Path, required=True, help="directory that holds the samples")
    samples.add_argument("--list", action="store_true", help="print the names of the samples and stop")
    samples.set_defaults(command=_samples, parser=samples)
    commands.add_parser("serve", help="answer the requests of passnet dataset capture").set_defaults(command=_serve)
    options = parser.parse_args()
    return options.command(options)


def _serve(options: argparse.Namespace) -> int:
    from .serve import serve

    serve()
    os._exit(0)  # at once: nothing that was imported has to be put in order


def _samples(options: argparse.Namespace) -> int:
    try:
        import torch
    except ImportError as error:
        print("error: {}\nhint: {}".format(*no_pytorch(error)), file=sys.stderr)
        return 4

    from .capture import CaptureError
    from .samples import SAMPLES
    from .write import CutError, find_passnet, write_sample

    known = {spec.name: spec for spec in SAMPLES}
    if options.list:
        print("\n".join(known))
        return 0
    unknown = [name for name in options.names if name not in known]
    if unknown:
        options.parser.error(f"unknown sample {unknown[0]!r}: expected one of {', '.join(known)}")

    passnet = find_passnet()
    if passnet is None:
        print("error: found no passnet in PATH or in build/bin of the checkout, expected one to cut graphs with\n"
              "hint: run 'make' first", file=sys.stderr)  # fmt: skip
        return 4
    torch.set_num_threads(1)  # sums in one order, whatever the machine
    for name in options.names or known:
        try:
            graphs = write_sample(known[name], options.out, passnet)
        except (CaptureError, CutError, ImportError) as error:
            print(f"{name}: error: {error}", file=sys.stderr)
            return 4 if isinstance(error, ImportError) else 3
        print(f"{name}: {len(graphs)} graphs")
    return 0


if __name__ == "__main__":
    sys.exit(main())
