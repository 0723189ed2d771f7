"""The text of a whole graph, as torch.fx prints it: model.py and what graph_hash.txt is the hash of."""

import ast
import hashlib
import re
import textwrap

import torch
from torch import fx

from .capture import FullGraph
from .causes import CaptureFailure
from .meta import DTYPES

# Private spellings that torch.fx prints, and the public functions they are.
PUBLIC_NAMES = {
    "torch._C._nn.avg_pool2d": "torch.nn.functional.avg_pool2d",
    "torch._C._nn.softplus": "torch.nn.functional.softplus",
    "torch._C._nn.one_hot": "torch.nn.functional.one_hot",
    "torch._C._nn.pad": "torch.nn.functional.pad",
    "torch._C._nn.gelu": "torch.nn.functional.gelu",
    "torch._C._nn.scaled_dot_product_attention": "torch.nn.functional.scaled_dot_product_attention",
    "torch._C._nn.linear": "torch.nn.functional.linear",
    "torch._C._fft.fft_irfft": "torch.fft.irfft",
    "torch._C._fft.fft_rfft": "torch.fft.rfft",
    "torch._C._fft.fft_fftn": "torch.fft.fftn",
    "torch._C._special.special_logit": "torch.special.logit",
    "torch._C._linalg.linalg_vector_norm": "torch.linalg.vector_norm",
    "torch._C._linalg.linalg_norm": "torch.linalg.norm",
    "torch._C._set_grad_enabled": "torch.set_grad_enabled",
}
_PRIVATE = re.compile("|".join(re.escape(name) + r"(?=\()" for name in PUBLIC_NAMES))

# What torch.fx prints without qualifying it.
FREE_NAMES = {"torch", "device", "inf", "nan", "slice", "Ellipsis", "float", "self"}
MAX_TEXT_BYTES = 64 << 20  # what the reader takes

_DELETED = re.compile(r";  ((?:\w+ = )+None)$")
_IN_PLACE = re.compile(r"^(    (\w+)(?: \S+|\[.*\] )= .*);  (\w+ = \2)$")  # x += y or x[i] = y


def with_arguments_for_constants(full: FullGraph) -> FullGraph:
    """The graph copied, tensors that it holds as attributes made arguments; other attributes are refused."""
    graph, values = fx.Graph(), {}
    inputs = list(full.inputs)
    attributes: dict[str, fx.Node] = {}
    for node in full.module.graph.nodes:
        if node.op == "get_attr" and node.target not in attributes:
            value = _attribute(full.module, node.target)
            if not isinstance(value, torch.Tensor):
                raise CaptureFailure("unsupported", f"found the attribute '{node.target}' ({type(value).__name__}) in the graph, "
                                     "expected tensors only: nested graphs have no form in model.py")  # fmt: skip
            attributes[node.target] = node
    for node in full.module.graph.nodes:
        if node.op == "placeholder":
            values[node] = graph.node_copy(node)
    lifted = {}
    for target in attributes:
        name = "L_self_constants_" + re.sub(r"\W", "_", target) + "_"
        lifted[target] = graph.create_node("placeholder", name, (), {}, name=name.lower(), type_expr=torch.Tensor)
        inputs.append(_attribute(full.module, target))
    for node in full.module.graph.nodes:
        if node.op == "get_attr":
            values[node] = lifted[node.target]
        elif node.op != "placeholder":
            values[node] = graph.node_copy(node, lambda used: values[used])
            values[node].type = None
    return FullGraph(fx.GraphModule(torch.nn.Module(), graph), inputs)


# Libraries of operators that PyTorch and its models bring with them: graphs of these are at least read and cut.
KNOWN_LIBRARIES = {"aten", "prim", "prims", "quantized", "torchvision", "transformers"}


def _check_libraries(graph: fx.Graph) -> None:
    """Raises CaptureFailure at an operator that only the process which defines it has."""
    for node in graph.nodes:
        if isinstance(node.target, torch._ops.OpOverload):
            name = node.target.name().partition(".")[0]
        elif isinstance(node.target, torch._ops.OpOverloadPacket):
            name = node.target._qualified_op_name
        else:
            continue
        if name.partition("::")[0] not in KNOWN_LIBRARIES:
            raise CaptureFailure("unsupported", f"found the operator '{name}' in the graph, expected those of PyTorch: no other library is loaded to run graphs")


def model_text(graph: fx.Graph) -> str:
    """model.py. Raises CaptureFailure when the graph says what its grammar does not have."""
    _check_libraries(graph)
    lines = _source(graph).splitlines()
    signature = next(i for i, line in enumerate(lines) if line.startswith("def forward("))
    arguments = re.fullmatch(r"def forward\(self(?:, )?(.*)\):", lines[signature])
    if arguments is None:
        raise CaptureFailure("unsupported", f"found the signature '{lines[signature][:80]}', expected named arguments only")
    text = ["    def forward(", "        self,"]
    text += [f"        {argument.replace(' : ', ': ')}," for argument in arguments[1].split(", ") if argument]
    text.append("    ):")
    for line in lines[signature + 1 :]:
        deleted = _DELETED.search(line)
        if deleted:
            line = line[: deleted.start()]
        in_place = _IN_PLACE.match(line)
        for statement in [in_place[1], "    " + in_place[3]] if in_place else [line]:
            text.append("    " + statement)
        if deleted:
            text.append("        " + deleted[1])
    body = "\n".join(text).rstrip() + "\n"
    free = _check(body)
    imports = ["import torch"] + [f"from torch import {name}" for name in ("device", "inf", "nan") if name in free]
    text = "\n".join(imports) + "\n\n\nclass GraphModule(torch.nn.Module):\n" + body
    if len(text) > MAX_TEXT_BYTES:
        raise CaptureFailure("too-large", f"found a model.py of {len(text)} bytes, expected at most {MAX_TEXT_BYTES}")
    return text


def hash_text(graph: fx.Graph) -> str:
    """What torch.fx prints once arguments are called v0, v2, ... in the signature and v1, v3, ... below it."""
    copy, values, count = fx.Graph(), {}, 0
    for node in graph.nodes:
        if node.op != "placeholder":
            values[node] = copy.node_copy(node, lambda used: values[used])
        elif node.users:
            values[node] = copy.create_node("placeholder", f"v{2 * count}", (), {}, name=f"v{2 * count + 1}", type_expr=torch.Tensor)
            count += 1
    return _source(copy)


def graph_hash(graph: fx.Graph) -> str:
    return hashlib.sha256(hash_text(graph).encode()).hexdigest()


def _source(graph: fx.Graph) -> str:
    return _PRIVATE.sub(lambda match: PUBLIC_NAMES[match[0]], graph.python_code("self").src)


def _check(forward: str) -> set[str]:
    """The names that `forward` uses and does not define, all of them known. Raises CaptureFailure naming what is not."""
    tree = ast.parse(textwrap.dedent(forward)).body[0]
    defined = {argument.arg for argument in tree.args.args}
    free = set()
    for node in ast.walk(tree):
        if isinstance(node, (ast.Dict, ast.Lambda, ast.Starred, ast.JoinedStr, ast.With, ast.If, ast.For, ast.While, ast.Set)):
            raise CaptureFailure("unsupported", f"found '{ast.unparse(node)[:80]}' in the graph, for which model.py has no form")
        if isinstance(node, ast.Constant) and isinstance(node.value, (complex, bytes)):
            raise CaptureFailure("unsupported", f"found the constant {node.value!r} in the graph, which model.py has no form for")
        if isinstance(node, ast.Attribute) and ast.unparse(node.value) == "torch":
            value = getattr(torch, node.attr, None)
            if isinstance(value, torch.dtype) and value not in DTYPES:
                raise CaptureFailure("unsupported", f"found '{value}' in the graph, a dtype that PassNet does not read")
        if isinstance(node, ast.Name):
            if isinstance(node.ctx, ast.Store):
                defined.add(node.id)
            else:
                free.add(node.id)
    free -= defined
    unknown = sorted(free - FREE_NAMES)
    if unknown:
        uses = [ast.unparse(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)]
        example = next((use for use in uses if use.split(".")[0] == unknown[0]), unknown[0])
        raise CaptureFailure("unsupported", f"found '{example}' in the graph, expected functions of torch only")
    return free


def _attribute(module: torch.nn.Module, target: str):
    for part in target.split("."):
        module = getattr(module, part)
    return module
