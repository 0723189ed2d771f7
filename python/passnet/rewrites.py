"""Rewrites Dynamo's graphs before passes are written: stores weights of convolutions channels-last, and splits calls that PyTorch computes in several kernels on a GPU."""

from __future__ import annotations

import math
import operator
from typing import Any, Callable

import torch
from torch import fx

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


# Methods that look at strides: where they get an image, its layout stays.
_LOOK_AT_STRIDES = ("view", "as_strided", "stride", "is_contiguous", "storage_offset")


def _in_channels_last(module: fx.GraphModule) -> fx.GraphModule:
    """Stores the weights of convolutions channels-last, and with them what comes after: the fastest kernels of cuDNN and oneDNN read and write that.

    Results have the layout that they had. On a GPU graphs with grouped or with small convolutions alone stay as they are, as in Inductor.
    """
    if not _gains_from_channels_last(module.graph):
        return module
    graph, values, weights = fx.Graph(), {}, {}
    for node in module.graph.nodes:
        if node.op == "output":
            graph.output(fx.map_arg(node.args[0], lambda used: _as_it_lay(graph, used, values[used])))
            continue
        values[node] = made = graph.node_copy(node, values.__getitem__)
        if node.target is torch.conv2d:
            weight = made.args[1]
            if weight not in weights:
                with graph.inserting_before(made):
                    weights[weight] = graph.call_method("contiguous", (weight,), {"memory_format": torch.channels_last})
            made.args = (made.args[0], weights[weight], *made.args[2:])
    return fx.GraphModule(module, graph)


def _gains_from_channels_last(graph: fx.Graph) -> bool:
    convolutions = graph.find_nodes(op="call_function", target=torch.conv2d)
    made = [_made(node, *_FLOATS) for node in convolutions]
    if any(one is None or not all(isinstance(size, int) for size in one.shape) for one in made):
        return False
    if any(node.op == "call_method" and node.target in _LOOK_AT_STRIDES and _is_image(node.args[0]) for node in graph.nodes):
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


def _is_image(node: Any) -> bool:
    """Four dimensions, of which the last two hold more than one element."""
    made = _made(node, *_FLOATS)
    return made is not None and made.dim() == 4 and any(not isinstance(size, int) or size != 1 for size in made.shape[2:])


def _as_it_lay(graph: fx.Graph, old: fx.Node, new: fx.Node) -> fx.Node:
    if old.op == "placeholder" or not _is_image(old) or not old.meta["example_value"].is_contiguous():
        return new
    return graph.call_method("contiguous", (new,))


_REWRITES = {
    torch._C._nn.linear: (_gains_from_cublas, _product_and_sum),
    torch.addmm: (_gains_from_cublas, _product_and_sum),
    torch._C._nn.scaled_dot_product_attention: (_has_no_kernel, _products_and_softmax),
}
