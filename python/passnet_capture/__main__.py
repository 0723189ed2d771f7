"""python -m passnet_capture samples --out samples [NAME...]: captures the shipped samples anew.
python -m passnet_capture models --from timm --match 'resnet*' --out DIR: captures whole models."""

import argparse
import os
import sys
from pathlib import Path

COMMAND = "PASSNET_COMMAND"  # how the program that hands over is called


def main() -> int:
    if os.environ.get(COMMAND):  # `passnet dataset capture` hands over: the help shows what was typed
        parser = argparse.ArgumentParser(prog=os.environ[COMMAND], formatter_class=argparse.RawDescriptionHelpFormatter,
                                         description="Captures whole models with random weights into graphs, one process for each; nothing is downloaded.",
                                         epilog=_models_epilog(os.environ[COMMAND]))  # fmt: skip
        _add_models(parser)
        return _run(parser)
    parser = argparse.ArgumentParser(prog="python -m passnet_capture",
                                     description="Turns public models with random weights into graphs; nothing is downloaded.")  # fmt: skip
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    _add_samples(commands.add_parser(
        "samples", help="cut the shipped samples out of their models",
        epilog="example: python -m passnet_capture samples --out samples vit_add_layer_norm",
    ))  # fmt: skip
    _add_models(commands.add_parser(
        "models", help="capture whole models, one process for each", formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog=_models_epilog("python -m passnet_capture models"),
    ))  # fmt: skip
    return _run(parser)


def _run(parser: argparse.ArgumentParser) -> int:
    options = parser.parse_args()
    try:
        import torch  # noqa: F401
    except ImportError as error:
        print(f"error: {sys.executable} cannot import PyTorch: {error}\n"
              "hint: run 'make test' once, which installs all that capturing needs, or name another Python in PASSNET_PYTHON", file=sys.stderr)  # fmt: skip
        return 4
    return options.command(options)


def _models_epilog(command: str) -> str:
    return f"""\
FILE.py:function is a function of yours without arguments. It returns (model, kwargs): a torch.nn.Module and the dict of
keyword arguments that its forward is called with; or a list of (tag, model, kwargs), one for each shape to capture:

  def tiny():
      return torch.nn.Linear(8, 4), {{"input": torch.randn(2, 8)}}

Example:  {command} --from timm --match 'resnet*' --out full --jobs 2 --resume
          {command} --from tiny.py:tiny --out full

Exit codes: 0 done, 1 some models failed, 2 usage, 3 bad input, 4 something is missing or busy, 130 interrupted"""


def _add_samples(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("names", nargs="*", metavar="NAME", help="samples to write (default: all)")
    parser.add_argument("--out", type=Path, required=True, help="directory that holds the samples")
    parser.add_argument("--list", action="store_true", help="print the names of the samples and stop")
    parser.set_defaults(command=_samples, parser=parser)


def _add_models(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--from", dest="source", required=True, metavar="SOURCE",
                        help="timm, torchvision, transformers, or FILE.py:function (see below)")  # fmt: skip
    parser.add_argument("--match", action="append", default=[], metavar="PATTERN",
                        help="names, with * and ? (default: all)")  # fmt: skip
    parser.add_argument("-o", "--out", type=Path, metavar="DIR", help="where graphs and journal.jsonl go")
    parser.add_argument("-j", "--jobs", type=_positive(int), default=1, metavar="N",
                        help="models at the same time (default: %(default)s)")  # fmt: skip
    parser.add_argument("--resume", action="store_true", help="leave out the models that stand in the journal")
    parser.add_argument("--retry-failed", action="store_true", help="with --resume: capture those again that failed")
    parser.add_argument("--timeout", type=_positive(float), default=120.0, metavar="SECONDS",
                        help="per model (default: %(default)g)")  # fmt: skip
    parser.add_argument("--memory-gb", type=_positive(float), default=8.0, metavar="GB",
                        help="per model (default: %(default)g)")  # fmt: skip
    parser.add_argument("--shapes", type=_positive(int), default=2, metavar="N",
                        help="shapes per model (default: %(default)s)")  # fmt: skip
    parser.add_argument("--limit", type=_positive(int), metavar="N", help="the first N models that match")
    parser.add_argument("--list", action="store_true", help="print the names of the models that match and stop")
    parser.add_argument("-q", "--quiet", action="store_true", help="no progress and no hints on stderr")
    parser.add_argument("--json", action="store_true", help="print JSON on stdout (docs/json.md)")
    parser.set_defaults(command=_models, parser=parser)


def _positive(kind):
    def parse(text: str):
        value = kind(text)
        if value <= 0:
            raise argparse.ArgumentTypeError(f"found {text}, expected more than 0")
        return value

    return parse


def _samples(options: argparse.Namespace) -> int:
    import torch

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


def _models(options: argparse.Namespace) -> int:
    if options.out is None and not options.list:
        options.parser.error("--out is required, unless --list is given")
    if options.retry_failed and not options.resume:
        options.parser.error("--retry-failed is for --resume")
    from .run import Options, run

    return run(Options(options.source, options.match, options.out, options.jobs, options.resume, options.retry_failed, options.timeout,
                       options.memory_gb, options.shapes, options.limit, options.list, options.quiet, options.json))  # fmt: skip


if __name__ == "__main__":
    sys.exit(main())
