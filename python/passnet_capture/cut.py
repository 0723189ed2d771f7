"""Cuts a range of nodes out of a full graph, with the values that flow into it.

Nodes are counted as in the data set: placeholders and the output do not count, ranges are half open. What flows in
and out of a range follows the same rule too: an input appears before the range and inside it, an output appears
first inside and again after it; both are ordered by name, outputs of a range that ends the graph by position.
"""

from dataclasses import dataclass

import torch
from torch import fx

from .capture import FullGraph


class CutError(Exception):
    """The asked range is not in the graph."""


@dataclass
class Subgraph:
    """A range [start, end) of a full graph as a graph of its own."""

    graph: fx.Graph
    inputs: dict[str, torch.Tensor]  # placeholder name -> value on a real run, before the range changed it
    start: int
    end: int


def op_name(node: fx.Node) -> str:
    """`Tensor.view` for a method, otherwise the name of the Python function: `layer_norm`, `iadd`, `getitem`."""
    return f"Tensor.{node.target}" if node.op == "call_method" else node.target.__name__


def find_range(full: FullGraph, ops: list[str], occurrence: int = 0) -> tuple[int, int]:
    """The range of the occurrence-th place where the op names of consecutive nodes are `ops`."""
    names = [op_name(node) for node in full.body()]
    starts = [i for i in range(len(names) - len(ops) + 1) if names[i : i + len(ops)] == ops]
    if occurrence >= len(starts):
        raise CutError(f"operators {' '.join(ops)}: found {len(starts)} times, expected at least {occurrence + 1}")
    return starts[occurrence], starts[occurrence] + len(ops)


def cut(full: FullGraph, start: int, end: int) -> Subgraph:
    """The nodes [start, end) with inputs measured by running the whole graph up to the range."""
    body = full.body()
    inside = set(body[start:end])
    used_inside = {used for node in inside for used in node.all_input_nodes}
    inputs = sorted(used_inside - inside, key=lambda node: node.name)
    outputs = [node for node in body[start:end] if any(user not in inside for user in node.users)]
    if end < len(body):
        outputs.sort(key=lambda node: node.name)

    graph = fx.Graph()
    copies = {node: graph.placeholder(node.name) for node in inputs}
    for node in body[start:end]:
        copies[node] = graph.node_copy(node, lambda used: copies[used])
    graph.output(tuple(copies[node] for node in outputs))
    return Subgraph(graph, _values_before(full, body[start], inputs), start, end)


class _StopAt(fx.Interpreter):
    """Runs a graph up to one node and keeps copies of chosen values as they are then."""

    def __init__(self, full: FullGraph, stop: fx.Node, wanted: list[fx.Node]):
        super().__init__(full.module, garbage_collect_values=False)
        self.stop, self.wanted, self.values = stop, wanted, {}

    def run_node(self, node: fx.Node):
        if node is self.stop:
            self.values = {wanted.name: self.env[wanted].detach().clone() for wanted in self.wanted}
            raise StopIteration
        return super().run_node(node)


def _values_before(full: FullGraph, stop: fx.Node, wanted: list[fx.Node]) -> dict[str, torch.Tensor]:
    runner = _StopAt(full, stop, wanted)
    with torch.no_grad():
        try:
            runner.run(*full.inputs, enable_io_processing=False)
        except StopIteration:
            pass
    return runner.values
