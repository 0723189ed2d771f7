"""Rewrites Dynamo's graphs before passes are written: stores weights of convolutions channels-last, and splits calls that PyTorch computes in several kernels on a GPU."""

from __future__ import annotations

import math
import operator
from typing import Any, Callable

import torch
from torch import fx
from torch._guards import detect_fake_mode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from .form import Form, form_of

Value = Callable[[Any], Any]  # of an argument of the old graph, in the new one
_FLOATS = (torch.float32, torch.float16, torch.bfloat16)
_MATH = 0  # torch._fused_sdp_choice: products and a softmax, no kernel of its own


def form_as_run(module: fx.GraphModule, inputs: list[Any]) -> Form:
    """The form in which backend="passnet" runs a graph. Raises CaptureFailure."""
    return form_of(rewritten(module), inputs)


def rewritten(module: fx.GraphModule) -> fx.GraphModule:
    """The same graph, rewritten; `module` itself where nothing is to be done."""
    return _in_channels_last(_in_parts(module))


def _in_parts(module: fx.GraphModule) -> fx.GraphModule:
    """Rewrites these calls where they compute float32 on a GPU.

    - A product with a bias (linear, addmm) is a product and a sum where PyTorch's call of cuBLASLt for both takes longer, up to four times
      on an H200.
    - Attention for which PyTorch has no kernel of its own, as with most masks, is products and a softmax.
    """
    found = {node: _REWRITES[node.target] for node in module.graph.nodes if node.target in _REWRITES and _is_on_gpu(_made(node, torch.float32))}
    found = {node: write for node, (applies, write) in found.items() if applies(node)}
    if not found:
        return module
    graph, values = fx.Graph(), {}

    def value(argument: Any) -> Any:
        return fx.map_arg(argument, values.__getitem__)

    for node in module.graph.nodes:
        values[node] = found[node](graph, node, value) if node in found else graph.node_copy(node, values.__getitem__)
    return fx.GraphModule(module, graph)


def _made(node: Any, *dtypes: torch.dtype) -> torch.Tensor | None:
    """Returns the result of a node where that is a tensor of one of these types."""
    made = node.meta.get("example_value") if isinstance(node, fx.Node) else None
    return made if isinstance(made, torch.Tensor) and made.dtype in dtypes else None


def _is_on_gpu(made: torch.Tensor | None) -> bool:
    return made is not None and made.device.type == "cuda"


def _arguments(node: fx.Node, names: tuple[str, ...]) -> dict[str, Any]:
    return {**dict(zip(names, node.args)), **node.kwargs}


_LINEAR = ("input", "weight", "bias")
_CONVOLUTION = ("input", "weight", "bias", "stride", "padding", "dilation", "groups")
_ADDMM = ("input", "mat1", "mat2")
_ATTENTION = ("query", "key", "value", "attn_mask", "dropout_p", "is_causal")


def _biased_product(node: fx.Node) -> tuple[Callable, fx.Node, fx.Node, fx.Node] | None:
    """Function and factors of a product, and its bias; None: it has none, or scales them."""
    if node.target is torch.addmm:
        given = _arguments(node, _ADDMM)
        return (torch.mm, given["mat1"], given["mat2"], given["input"]) if set(given) == set(_ADDMM) else None
    given = _arguments(node, _LINEAR)
    return (node.target, given["input"], given["weight"], given["bias"]) if isinstance(given.get("bias"), fx.Node) else None


def _gains_from_cublas(node: fx.Node) -> bool:
    """cuBLAS takes no longer for the product than cuBLASLt with the bias (H200, 16 to 8,192 rows)."""
    product = _biased_product(node)
    x = _made(product[1], torch.float32) if product else None
    if x is None or not all(isinstance(size, int) for size in x.shape):
        return False
    # With TensorFloat-32 cuBLASLt adds the bias at no cost.
    return math.prod(x.shape[:-1]) >= 32 and x.shape[-1] >= 512 and torch.backends.cuda.matmul.fp32_precision != "tf32"


def _product_and_sum(graph: fx.Graph, node: fx.Node, value: Value) -> fx.Node:
    function, left, right, bias = _biased_product(node)
    return graph.call_function(operator.add, (graph.call_function(function, (value(left), value(right))), value(bias)))


def _has_no_kernel(node: fx.Node) -> bool:
    """PyTorch computes this attention by products and a softmax."""
    given = _arguments(node, _ATTENTION)
    if given.get("dropout_p", 0.0) != 0 or given.get("enable_gqa") or not isinstance(given.get("scale"), (int, float, type(None))):
        return False
    tensors = {name: argument.meta.get("example_value") if isinstance(argument, fx.Node) else argument for name, argument in given.items()}
    if not all(isinstance(size, int) for name in ("query", "key") for size in tensors[name].shape):
        return False
    mask = tensors.get("attn_mask")
    if mask is not None and mask.dtype not in (torch.bool, torch.float32):
        return False
    return torch._fused_sdp_choice(**tensors) == _MATH


def _products_and_softmax(graph: fx.Graph, node: fx.Node, value: Value) -> fx.Node:
    """Writes the operators of torch's _scaled_dot_product_attention_math; a row whose scores are all masked is 0."""
    given = _arguments(node, _ATTENTION)
    query, key, mask = given["query"], given["key"], given.get("attn_mask")
    width, device = query.meta["example_value"].shape[-1], query.meta["example_value"].device
    root = math.sqrt(given.get("scale") or 1 / math.sqrt(width))

    def call(function: Callable, *arguments: Any, **named: Any) -> fx.Node:
        return graph.call_function(function, arguments, named)

    turned = graph.call_method("transpose", (value(key), -2, -1))
    scores = call(torch.matmul, call(operator.mul, value(query), root), call(operator.mul, turned, root))
    bias, is_bool = value(mask), mask is not None and mask.meta["example_value"].dtype == torch.bool
    if given.get("is_causal"):
        sizes = (query.meta["example_value"].shape[-2], key.meta["example_value"].shape[-2])
        bias, is_bool = graph.call_method("tril", (call(torch.ones, sizes, dtype=torch.bool, device=device),)), True
    if is_bool:
        bias = call(torch.where, bias, 0.0, -math.inf)
    if bias is not None:
        scores = call(operator.add, scores, bias)
    shares = call(torch.softmax, scores, dim=-1)
    if bias is not None:
        masked = graph.call_method("all", (call(operator.eq, scores, -math.inf),), {"dim": -1, "keepdim": True})
        shares = graph.call_method("masked_fill", (shares, masked, 0.0))
    return call(torch.matmul, shares, value(given["value"]))


# Calls that look at memory and not at elements, or change where an argument's elements lie: with one of them the layout stays.
_LOOK_AT_MEMORY = (
    *("as_strided", "as_strided_", "as_strided_copy", "as_strided_scatter", "is_contiguous", "resize_", "resize_as_", "set_", "storage_offset", "stride", "view_as_complex"),
    *("squeeze_", "swapaxes_", "swapdims_", "t_", "transpose_", "unsqueeze_"),
)


def _in_channels_last(module: fx.GraphModule) -> fx.GraphModule:
    """Stores the weights of convolutions channels-last, and with them what comes after: the fastest kernels of cuDNN and oneDNN read and write that.

    Results have the layout and the values that they had, or the graph stays as it is. On a GPU graphs with grouped or with small
    convolutions alone stay so, as in Inductor.
    """
    if not _gains_from_channels_last(module.graph):
        return module
    graph, values, weights = fx.Graph(), {}, {}
    for node in module.graph.nodes:
        values[node] = made = graph.node_copy(node, values.__getitem__)
        if node.target is torch.conv2d:
            weight = made.args[1]
            if weight not in weights:
                with graph.inserting_before(made):
                    weights[weight] = graph.call_method("contiguous", (weight,), {"memory_format": torch.channels_last})
            made.args = (made.args[0], weights[weight], *made.args[2:])
    rewritten = fx.GraphModule(module, graph)
    try:
        lies = _Memory(rewritten)
        keeps_values = not lies.draws_numbers and (not lies.writes or _reads(lies, set(weights.values())) == _reads(_Memory(module), set()))
    except Exception:  # noqa: BLE001: a call that PyTorch refuses for tensors that lie so, such as `view`
        return module
    results = module.graph.output_node().all_input_nodes
    moved = [node for node in results if not _lies_alike(_example(node), lies.tensors[values[node]])]
    if not keeps_values or not all(_may_be_copied(node, results) for node in moved):
        return module
    output = graph.output_node()
    with graph.inserting_before(output):
        copies = {values[node]: graph.call_method("contiguous", (values[node],)) for node in moved}
    output.args = fx.map_arg(output.args, lambda used: copies.get(used, used))
    rewritten.recompile()
    return rewritten


def _gains_from_channels_last(graph: fx.Graph) -> bool:
    convolutions = graph.find_nodes(op="call_function", target=torch.conv2d)
    made = [_made(node, *_FLOATS) for node in convolutions]
    if any(one is None or not all(isinstance(size, int) for size in one.shape) for one in made):
        return False
    if any(getattr(node.target, "__name__", node.target) in _LOOK_AT_MEMORY for node in graph.nodes):
        return False
    on_gpu = any(map(_is_on_gpu, made))
    large = bool(made) and not on_gpu
    for node in convolutions:
        given = _arguments(node, _CONVOLUTION)
        weight = _made(given["weight"], *_FLOATS)
        if weight is None or len(node.args) < 2 or (on_gpu and given.get("groups", 1) > 1 and weight.shape[1] > 1):
            return False
        large = large or max(weight.shape[:2]) > 64
    return large


class _Memory(fx.Interpreter):
    """Tensors of a graph as they would lie, without their values.

    tensors: what each node made. writes: nodes that changed memory, and which. draws_numbers: a call draws random ones, in the order of memory.
    Raises what a call raises.
    """

    def __init__(self, module: fx.GraphModule):
        super().__init__(module, garbage_collect_values=False)
        self.tensors: dict[fx.Node, list[torch.Tensor]] = {}
        self.writes: dict[fx.Node, set[int]] = {}
        inputs = [node.meta["example_value"] for node in module.graph.find_nodes(op="placeholder")]
        self._watch = _Watch()
        with torch.no_grad(), detect_fake_mode(inputs), self._watch:
            self.run(*inputs)
        self.draws_numbers = self._watch.draws_numbers

    def run_node(self, n: fx.Node) -> Any:
        made = n.meta["example_value"] if n.op == "get_attr" else super().run_node(n)
        self.tensors[n] = _tensors(made)
        if self._watch.written:
            self.writes[n], self._watch.written = self._watch.written, set()
        return made


class _Watch(TorchDispatchMode):
    """Notes which memory calls change, and whether they draw random numbers."""

    def __init__(self):
        super().__init__()
        self.written: set[int] = set()
        self.draws_numbers = False

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        parameters = func._schema.arguments
        given = {one.name: one.default_value for one in parameters} | dict(zip((one.name for one in parameters), args)) | (kwargs or {})
        self.draws_numbers |= torch.Tag.nondeterministic_seeded in func.tags and given.get("dropout_p") != 0
        if func._schema.is_mutable:
            changed = [given[one.name] for one in parameters if one.alias_info is not None and one.alias_info.is_write]
            self.written |= set(map(_memory_of, _tensors(changed)))
        return func(*args, **(kwargs or {}))


def _tensors(made: Any) -> list[torch.Tensor]:
    return [one for one in tree_leaves(made) if isinstance(one, torch.Tensor)]


def _example(node: fx.Node) -> list[torch.Tensor]:
    return _tensors(node.meta["example_value"])


def _memory_of(tensor: torch.Tensor) -> int:
    return tensor.untyped_storage()._cdata


def _reads(memory: _Memory, added: set[fx.Node]) -> list[list[int]]:
    """Writes to each argument of each node since it was made, as numbers of nodes. added: nodes that have no number.

    Two graphs of the same calls give the same values where these are equal, whatever is a view in one and a copy in the other.
    """
    numbers: dict[fx.Node, int] = {}
    written: dict[int, list[int]] = {}  # memory -> nodes
    found, number = [], 0
    for node in memory.tensors:
        if node not in added:
            for used in node.all_input_nodes:
                writers = {writer for one in memory.tensors[used] for writer in written.get(_memory_of(one), ())}
                found.append(sorted(writer for writer in writers if writer > numbers[used]))
        numbers[node] = number
        for one in memory.writes.get(node, ()):
            written.setdefault(one, []).append(number)
        number += node not in added
    return found


def _lies_alike(before: list[torch.Tensor], after: list[torch.Tensor]) -> bool:
    """The strides of axes longer than 1 are equal."""
    axes = (zip(old.shape, old.stride(), new.stride()) for old, new in zip(before, after))
    return all(size == 1 or old == new for one in axes for size, old, new in one)


def _may_be_copied(node: fx.Node, results: list[fx.Node]) -> bool:
    """A contiguous tensor that shares memory with no argument and no other result."""
    made = _example(node)
    others = {other for other in node.graph.nodes if other is not node and (other.op == "placeholder" or other in results)}
    return len(made) == 1 and made[0].is_contiguous() and _memory_of(made[0]) not in {_memory_of(one) for other in others for one in _example(other)}


_REWRITES = {
    torch._C._nn.linear: (_gains_from_cublas, _product_and_sum),
    torch.addmm: (_gains_from_cublas, _product_and_sum),
    torch._C._nn.scaled_dot_product_attention: (_has_no_kernel, _products_and_softmax),
}
