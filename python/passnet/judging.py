"""Writes, checks and times passes: the commands of PassNet on graphs and samples of Python."""

from __future__ import annotations

import contextlib
import shutil
import tempfile
import weakref
from pathlib import Path
from typing import TYPE_CHECKING, Any, Callable, Iterator, Mapping, Sequence

from . import programs
from .errors import BadInput
from .graph import Graph, capture
from .results import Result

if TYPE_CHECKING:
    import torch

Sample = str | Path  # a directory with graphs/ and, where it has passes, pass_dir/


def author(graph_or_module: Graph | Sample | torch.nn.Module | Callable, args: Sequence[Any] | Mapping[str, Any] = (), *, budget_s: float = 60,
           device: str = "cpu", out: Sample | None = None) -> Result:  # fmt: skip
    """Writes passes for a graph, a module or a sample, and keeps those that are right and faster.

    budget_s: seconds for a sample, or for each different part of graphs of more than 64 operators; passes that are proven by then
    are kept. device: "cpu", "cuda" or "cuda:N".
    out: where files stay; None: a temporary directory that goes with the result. Raises ResourceError where graphs could not
    be measured, as the machine did other work.
    """
    with _sample_of(graph_or_module, args) as sample:
        return _into(out, lambda place: programs.run(["author", sample, "-o", place, "--time-limit", budget_s, "--device", device]))


def evaluate(sample_or_graph: Graph | Sample, passes: Sample | None = None, *, device: str = "cpu", trials: int = 100, warmup: int = 25,
             out: Sample | None = None) -> Result:  # fmt: skip
    """Matches passes into each graph, checks the results against PyTorch's, and times both sides.

    passes: a pass_dir; None: that of the sample. trials: timed calls of each side.
    """
    with _sample_of(sample_or_graph, (), passes) as sample:
        command = ["eval", sample, "--device", device, "--trials", trials, "--warmup", warmup]
        return _into(out, lambda place: programs.run([*command, "--out", place], accept=(0, 1, 3)))


def check(sample_or_graph: Graph | Sample, passes: Sample | None = None, *, device: str = "cpu") -> dict[str, Any]:
    """Builds the passes and compares their results with PyTorch's, without timing.

    Returns what `passnet pass check --json` prints: a verdict per graph, and the problem where it is not "correct".
    """
    with _sample_of(sample_or_graph, (), passes) as sample:
        return programs.run(["pass", "check", sample, "--device", device], accept=(0, 1, 3, 4))


@contextlib.contextmanager
def _sample_of(source: Any, args: Any, passes: Sample | None = None) -> Iterator[Path]:
    """A sample directory for as long as the block lasts: the user's own, or a temporary one with copies."""
    if isinstance(source, (str, Path)) and passes is None and not (Path(source) / "model.py").exists():
        yield Path(source)
        return
    if passes is not None and not Path(passes).is_dir():
        raise BadInput(f"'{passes}' is no directory, expected a pass_dir")
    if not isinstance(source, (str, Path, Graph)):
        source = capture(source, args)
    with tempfile.TemporaryDirectory(prefix="passnet-sample-") as scratch:
        sample = Path(scratch) / "sample"
        for name, directory in _graphs_of(source):
            shutil.copytree(directory, sample / "graphs" / name)
        if passes is not None:
            shutil.copytree(passes, sample / "pass_dir")
        yield sample


def _graphs_of(source: Graph | Sample) -> list[tuple[str, Path]]:
    """Name and directory of each graph."""
    path = source.directory if isinstance(source, Graph) else Path(source)
    if (path / "model.py").exists():
        return [(path.name, path)]
    found = sorted(file.parent for file in (path / "graphs").rglob("model.py"))
    if not found:
        raise BadInput(f"'{path}' is neither a graph nor a sample", hint="expected a directory with model.py, or with graphs/")
    return [(str(one.relative_to(path / "graphs")), one) for one in found]


def _into(out: Sample | None, run: Callable[[Path], Any]) -> Result:
    """The result of a command that writes to `out`, or to a temporary directory that goes with the result."""
    if out is not None:
        return Result(out, run(Path(out)))
    scratch = Path(tempfile.mkdtemp(prefix="passnet-result-"))
    try:
        result = Result(scratch / "result", run(scratch / "result"))
    except BaseException:
        shutil.rmtree(scratch, ignore_errors=True)
        raise
    weakref.finalize(result, shutil.rmtree, scratch, ignore_errors=True)
    return result
