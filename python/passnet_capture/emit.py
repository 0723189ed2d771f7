"""Turns a subgraph of a shipped sample into the text of its files: model.py, weight_meta.py, graph_hash.txt."""

import ast
import hashlib
import math
from dataclasses import dataclass

import torch

from .cut import Subgraph
from .graph_text import PUBLIC_NAMES
from .meta import LITERAL_ELEMENTS, REPLAY_BOUND, record_head
from .names import is_data_input


@dataclass
class GraphText:
    """The files of a graph directory that depend on the subgraph alone."""

    model: str
    weight_meta: str

    @property
    def hash(self) -> str:
        return hashlib.sha256(self.model.encode()).hexdigest()


def emit(subgraph: Subgraph) -> GraphText:
    names, data, weights = {}, 0, 0
    for name in subgraph.inputs:
        if is_data_input(name):
            names[name], data = f"in_{data}", data + 1
        else:
            names[name], weights = f"w_{weights}", weights + 1
    records = [_record(name, new_name, subgraph.inputs[name]) for name, new_name in names.items()]
    return GraphText(_model_text(subgraph, names), "\n\n".join(records))


def _model_text(subgraph: Subgraph, arguments: dict[str, str]) -> str:
    code = ast.parse(subgraph.graph.python_code("self").src)
    forward = next(node for node in code.body if isinstance(node, ast.FunctionDef))
    forward.returns = None
    forward.args.args = [ast.arg("self")] + [ast.arg(name) for name in arguments.values()]
    _Rename(arguments).visit(forward)
    module = ast.parse("import torch\nclass GraphModule(torch.nn.Module):\n    pass")
    if "device(" in ast.unparse(forward):
        module.body.insert(1, ast.parse("from torch import device").body[0])
    module.body[-1].body = [forward]
    return ast.unparse(ast.fix_missing_locations(module)) + "\n"


class _Rename(ast.NodeTransformer):
    """Arguments get their new names, locals become tmp_0, tmp_1, ... in order of first assignment."""

    def __init__(self, arguments: dict[str, str]):
        self.arguments, self.names, self.locals = set(arguments), dict(arguments), 0

    def visit_Assign(self, node: ast.Assign):
        if isinstance(node.value, ast.Constant) and node.value.value is None:
            node.targets = [target for target in node.targets if target.id not in self.arguments]
            if not node.targets:
                return None
        node.value = self.visit(node.value)
        node.targets = [self.visit(target) for target in node.targets]
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign):
        return self.visit_Assign(ast.Assign([node.target], node.value))

    def visit_Name(self, node: ast.Name):
        if node.id not in self.names and isinstance(node.ctx, ast.Store):
            self.names[node.id] = f"tmp_{self.locals}"
            self.locals += 1
        return ast.Name(self.names.get(node.id, node.id), node.ctx)

    def visit_Attribute(self, node: ast.Attribute):
        public = PUBLIC_NAMES.get(ast.unparse(node))
        return ast.parse(public, mode="eval").body if public else self.generic_visit(node)


def _record(original_name: str, name: str, value: torch.Tensor) -> str:
    lines = record_head(original_name, name, original_name, value)
    if value.is_floating_point():
        mean, std = _statistics(value)
        lines += [f"    mean = {mean:.6g}", f"    std = {std:.6g}"]
        if "running_var" in original_name:
            lines.append("    min_val = 0")
    elif value.numel() < LITERAL_ELEMENTS or value.dtype == torch.bool:
        data = value.flatten().tolist() if value.numel() < LITERAL_ELEMENTS else None
        lines += ["    mean = None", "    std = None", f"    data = {data}"]
    else:
        lines += ["    mean = None", "    std = None"]
        lines += [f"    max_val = {value.max().item()}", f"    min_val = {value.min().item()}"]
    return "\n".join(lines) + "\n"


def _statistics(value: torch.Tensor) -> tuple[float, float]:
    """Mean and unbiased standard deviation, exactly rounded sums so that they do not depend on the machine."""
    numbers = value.double().clamp(-REPLAY_BOUND, REPLAY_BOUND).flatten().tolist()
    mean = math.fsum(numbers) / len(numbers)
    if len(numbers) < 2:
        return mean, 0.0
    return mean, math.sqrt(math.fsum((number - mean) ** 2 for number in numbers) / (len(numbers) - 1))
