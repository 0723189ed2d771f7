"""Captures the full graph that torch.compile sees of a model."""

from dataclasses import dataclass
from typing import Any

import torch
from torch import fx, nn


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


def capture(model: nn.Module, arguments: dict[str, Any]) -> FullGraph:
    """Runs `model(**arguments)` once under torch.compile and keeps the graph it was given.

    Static shapes, no gradients; parameters and buffers become placeholders.
    Raises CaptureError when dynamo would break the model into several graphs.
    """
    captured: list[FullGraph] = []

    def keep(module: fx.GraphModule, inputs: list[Any]):
        captured.append(FullGraph(module, list(inputs)))
        return module.forward

    torch._dynamo.reset()
    try:
        with torch.no_grad():
            torch.compile(model, backend=keep, dynamic=False, fullgraph=True)(**arguments)
    except torch._dynamo.exc.Unsupported as error:
        reason = str(error).splitlines()[0]
        raise CaptureError(f"{type(model).__name__}: found a graph break, expected one graph: {reason}") from error
    return captured[0]
