"""Graphs: captured from a module, or read from a directory."""

from __future__ import annotations

import html
import shutil
import tempfile
import weakref
from pathlib import Path
from typing import TYPE_CHECKING, Any, Callable, Mapping, Sequence

from . import programs
from .errors import BadInput, Unsupported

if TYPE_CHECKING:
    import torch

    from .form import Form


class Graph:
    """A graph directory (docs/graphs.md): model.py, records of its inputs, constraints.

    directory: where it lies. A captured graph without `out` is removed with its last reference.
    """

    def __init__(self, directory: str | Path):
        """Raises BadInput, as `passnet graph check` does."""
        self.directory = Path(directory)
        if not (self.directory / "model.py").is_file():
            raise BadInput(f"'{self.directory}' is no graph: it has no model.py", hint="passnet.capture(module, args) makes one")
        checked = programs.run(["graph", "check", self.directory], needs_torch=False, accept=(0, 1, 3))
        if checked["failed"]:
            raise BadInput(checked["failed"][0]["error"])

    @property
    def text(self) -> str:
        """model.py."""
        return (self.directory / "model.py").read_text()

    @property
    def hash(self) -> str:
        """Identifies the graph without its weights."""
        return (self.directory / "graph_hash.txt").read_text().strip()

    def stats(self) -> dict[str, Any]:
        """Counts of nodes and of operators by name, as `passnet graph stats --json` has them."""
        return programs.run(["graph", "stats", self.directory], needs_torch=False)

    def save(self, out: str | Path) -> Graph:
        """Copies the directory. Raises BadInput where `out` exists."""
        if Path(out).exists():
            raise BadInput(f"'{out}' exists, expected a new directory")
        shutil.copytree(self.directory, out)
        return Graph(out)

    def __repr__(self) -> str:
        lines = self.text.splitlines()
        operators = sum(" = " in line and not line.rstrip().endswith("= None") for line in lines)
        return f"<passnet.Graph {self.directory.name}: {operators} statements, {self.hash[:12]}>"

    def _repr_html_(self) -> str:
        return f"<b>{html.escape(repr(self))}</b><pre>{html.escape(self.text)}</pre>"


def capture(module: torch.nn.Module | Callable, args: Sequence[Any] | Mapping[str, Any] = (), out: str | Path | None = None) -> Graph:
    """Captures `module(*args)`, or `module(**args)` for a mapping, as one graph without gradients.

    out: the directory to write, which must not exist; None: a temporary one. Nothing but tracing is run.
    Raises Unsupported at a graph break, naming Dynamo's reason, and for graphs that PassNet has no form for.
    """
    programs.require_torch()
    from .tracing import trace_whole

    return write(trace_whole(module, args), type(module).__name__, out)


def write(form: Form, name: str, out: str | Path | None = None) -> Graph:
    """Writes a graph directory. Values of inputs are recorded as statistics (docs/graphs.md)."""
    import torch
    from passnet_capture.causes import CaptureFailure
    from passnet_capture.constraints import constraints_text
    from passnet_capture.meta import Recorder
    from passnet_capture.one_model import piece_of, write_graph

    if out is not None and Path(out).exists():
        raise BadInput(f"'{out}' exists, expected a new directory")
    try:
        piece = piece_of(form.graph, Recorder())
    except CaptureFailure as failure:
        raise Unsupported(str(failure), "unsupported") from failure
    if piece is None:
        raise Unsupported(f"found no operator in '{name}', expected at least one", "unsupported")
    facts = {"framework": "torch", "num_devices_required": 1, "num_nodes_required": 1, "dynamic": False, "model_name": name, "source": "passnet.capture",
             "torch_version": torch.__version__.split("+")[0], "data_type": piece.data_type}  # fmt: skip
    place = Path(out) if out is not None else Path(tempfile.mkdtemp(prefix="passnet-graph-")) / name
    write_graph(piece, constraints_text(piece.shapes, {}), facts, place)
    graph = Graph(place)
    if out is None:
        weakref.finalize(graph, shutil.rmtree, place.parent, ignore_errors=True)
    return graph
