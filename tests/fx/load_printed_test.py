"""PyTorch loads what print_model writes, and finds the same graph in it as in the original.

Every graph's printed text is executed as Python; its signature must be the original's. Both are traced with torch.fx and
the traces compared node by node; graphs that torch.fx cannot trace (most store into a tensor) are counted.
Random graphs need only compile: most of their calls mean nothing.

Quick tier: each sixth graph of the public ones. Full tier: all.
"""

import ast
import inspect
import pathlib
import subprocess
import sys
import tempfile

import corpus

from tiers import each_nth


corpus.need_torch()

import torch
import torch.fx


def print_graphs(directory, *args):
    subprocess.run([corpus.BINARIES / "print_graph", directory, *map(str, args)], check=True)


def load(path):
    """The module of a model.py, with its devices on the CPU: torch.fx runs calls that depend on no argument."""
    scope = {}
    exec(compile(path.read_text().replace('type="cuda"', 'type="cpu"'), str(path), "exec"), scope)
    return scope["GraphModule"]()


def trace(module):
    """The traced nodes, with names replaced by positions."""
    graph = torch.fx.Tracer().trace(module)
    position = {node: i for i, node in enumerate(graph.nodes)}
    rows = []
    for node in graph.nodes:
        args = torch.fx.node.map_arg((node.args, node.kwargs), lambda n: f"%{position[n]}")
        target = node.target if isinstance(node.target, str) else torch.typename(node.target)
        rows.append((node.op, "" if node.op == "placeholder" else target, repr(args)))
    return rows


def compare(original_path, printed_path):
    """True when both were traced and agree; None when torch.fx cannot trace the original."""
    original, printed = load(original_path), load(printed_path)
    names = [list(inspect.signature(module.forward).parameters) for module in (original, printed)]
    assert names[0] == names[1], f"{original_path}: the signature changed"
    try:
        expected = trace(original)
    except (TypeError, RuntimeError, torch.fx.proxy.TraceError):
        return None
    found = trace(printed)
    for i, (row, other) in enumerate(zip(expected, found)):
        assert row == other, f"{original_path}: traced node {i} differs: expected {row}, found {other}"
    assert len(expected) == len(found), f"{original_path}: {len(expected)} traced nodes expected, found {len(found)}"
    return True


def main():
    dirs = each_nth(corpus.graph_dirs("passbench", "graphnet"), 6)
    with tempfile.TemporaryDirectory() as temporary:
        print_graphs(temporary, *dirs)
        results = [compare(path / "model.py", pathlib.Path(temporary) / f"{i}.py") for i, path in enumerate(dirs)]
        print(f"{len(results)} graphs loaded; {results.count(True)} traces equal; {results.count(None)} cannot be traced")
        assert results.count(True) >= 0.8 * len(results), "torch.fx traced too few graphs for the test to mean much"
        print_graphs(temporary, "--random", 500)
        for i in range(500):
            ast.parse((pathlib.Path(temporary) / f"{i}.py").read_text())
        print("500 random graphs compile")


if __name__ == "__main__":
    sys.exit(main())
