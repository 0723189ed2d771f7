"""Captures the graphs that torch.compile sees of a model: one, or where it breaks the model, all pieces."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import fx, nn

from .causes import describe, first_line


class CaptureError(Exception):
    """The model cannot be captured as one graph."""


@dataclass
class FullGraph:
    """A captured graph and the values of its placeholders, in their order."""

    module: fx.GraphModule
    inputs: list[Any]

    def body(self) -> list[fx.Node]:
        """Every node that computes something: neither placeholder nor output, in order."""
        return [node for node in self.module.graph.nodes if node.op not in ("placeholder", "output")]

    def break_reason(self) -> str | None:
        """Why dynamo ended the graph where it did; None when the traced function returned."""
        reason = getattr(self.module, "compile_subgraph_reason", None)
        return first_line(reason.reason) if reason is not None and reason.graph_break else None


class _Traced(Exception):
    """Raised in place of running a captured graph."""


def capture(model: nn.Module, arguments: dict[str, Any], *, run: bool = True) -> FullGraph:
    """Traces `model(**arguments)` under torch.compile and keeps the graph it was given.

    Static shapes, no gradients; parameters and buffers become placeholders. The graph then runs once, unless `run` is
    off. Raises CaptureError when dynamo would break the model into several graphs or sees none, and what the model raises.
    """
    captured: list[FullGraph] = []

    def keep(module: fx.GraphModule, inputs: list[Any]):
        captured.append(FullGraph(module, list(inputs)))
        return module.forward if run else _stop

    try:
        _compile_and_call(model, arguments, keep, fullgraph=True)
    except _Traced:
        pass
    except torch._dynamo.exc.Unsupported as error:
        reason = str(error).splitlines()[0]
        raise CaptureError(f"{type(model).__name__}: found a graph break, expected one graph: {reason}") from error
    if not captured:
        raise CaptureError(f"{type(model).__name__}: found no operator, expected a graph")
    return captured[0]


def capture_pieces(model: nn.Module, arguments: dict[str, Any], see: Callable[[FullGraph], None]) -> None:
    """Runs `model(**arguments)` with graph breaks allowed and shows every piece to `see` before it runs.

    Pieces come in the order in which they run first. Inputs of a piece may change later on, so `see` must take from
    their values what it wants.
    """

    def keep(module: fx.GraphModule, inputs: list[Any]):
        see(FullGraph(module, list(inputs)))
        return module.forward

    _compile_and_call(model, arguments, keep, fullgraph=False)


def break_reason(error: CaptureError) -> str:
    """Dynamo's own words in a CaptureError."""
    return first_line(str(error.__cause__)) if error.__cause__ is not None else describe(error)


def _stop(*inputs):
    raise _Traced


def _compile_and_call(model: nn.Module, arguments: dict[str, Any], backend, fullgraph: bool) -> None:
    torch._dynamo.reset()
    with torch.no_grad():
        torch.compile(model, backend=backend, dynamic=False, fullgraph=fullgraph)(**arguments)
