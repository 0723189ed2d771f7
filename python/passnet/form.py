"""Graphs of Dynamo in the form of PassNet's dataset: torch-level operators, parameters and constants as inputs."""

from __future__ import annotations

import hashlib
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import fx

from .build_facts import VERSION
from .programs import HERE

_SCRIPTS = str(HERE / "share" / "passnet" / "python")
if _SCRIPTS not in sys.path:
    sys.path.append(_SCRIPTS)
from passnet_capture.capture import FullGraph  # noqa: E402
from passnet_capture.causes import CaptureFailure  # noqa: E402
from passnet_capture.graph_text import hash_text, model_text, with_arguments_for_constants  # noqa: E402


@dataclass
class Form:
    """A graph as text, and how to call it.

    text: model.py. identity: of structure and constants; weights are no part of it. types: of its inputs, all tensors. place: the
    device of its inputs. device: the model of this processor or GPU. arguments: how many Dynamo's callable gets. positions: of those that are passed on; the others are sizes.
    constants: tensors of the graph itself, passed last. dynamic: sizes or strides of inputs differ from call to call. graph: its fx form with a value per input; None once it was forgotten.
    """

    text: str
    identity: str
    types: list[str]
    place: torch.device
    device: str
    arguments: int
    positions: list[int]
    constants: list[torch.Tensor]
    dynamic: bool
    graph: FullGraph | None

    def key(self) -> str:
        """Identifies graph, types of inputs and what decides a kernel."""
        return hashlib.sha256("\n".join([self.identity, VERSION, torch.__version__, self.device, *self.types]).encode()).hexdigest()[:32]


def type_of(tensor: torch.Tensor) -> str:
    """Dtype, device kind, sizes, and strides of axes longer than 1: what the launches of a pass are made for."""
    strides = [stride for size, stride in zip(tensor.shape, tensor.stride()) if size > 1]
    return f"{tensor.dtype} {tensor.device.type} {list(tensor.shape)} {strides}"


def device_model(place: torch.device) -> str:
    return torch.cuda.get_device_name(place) if place.type == "cuda" else cpu_model()


def cpu_model() -> str:
    """Name and instruction sets of the processor, for which kernels are compiled."""
    global _CPU
    if not _CPU:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        _CPU = "; ".join(next((line.split(":", 1)[1].strip() for line in lines if line.startswith(name)), "unknown") for name in ("model name", "flags"))
    return _CPU


_CPU = ""


def form_of(module: fx.GraphModule, inputs: list[Any]) -> Form:
    """Raises CaptureFailure when the graph says what model.py has no form for."""
    full, positions = _without_sizes(module, list(inputs))
    count = len(full.inputs)
    full = with_arguments_for_constants(full)
    place = full.inputs[0].device if full.inputs else torch.device("cpu")
    for node, value in zip(full.module.graph.find_nodes(op="placeholder"), full.inputs):
        if not isinstance(value, torch.Tensor):
            raise CaptureFailure("unsupported", f"found the argument '{node.target}' of type {type(value).__name__}, expected tensors")
        if value.device != place:
            raise CaptureFailure("unsupported", f"'{node.target}' lies on {value.device}, and '{full.module.graph.find_nodes(op='placeholder')[0].target}' on {place}")
    identity = hashlib.sha256(hash_text(full.module.graph).encode()).hexdigest()
    return Form(model_text(full.module.graph), identity, [type_of(one) for one in full.inputs], place, device_model(place), len(inputs), positions,
                full.inputs[count:], any(map(_is_symbolic, module.graph.find_nodes(op="placeholder"))), full)  # fmt: skip


def _is_symbolic(placeholder: fx.Node) -> bool:
    value = placeholder.meta.get("example_value")
    numbers = (*value.shape, *value.stride()) if isinstance(value, torch.Tensor) else (value,)
    return any(isinstance(number, torch.SymInt) for number in numbers)


def _without_sizes(module: fx.GraphModule, inputs: list[Any]) -> tuple[FullGraph, list[int]]:
    """Sizes that Dynamo passes as arguments become sizes of tensors, so that the graph has tensors as inputs alone."""
    placeholders = module.graph.find_nodes(op="placeholder")
    sizes = [node for node, value in zip(placeholders, inputs) if isinstance(value, (int, torch.SymInt)) and not isinstance(value, bool)]
    if not sizes:
        return FullGraph(module, inputs), list(range(len(inputs)))
    graph, values, kept = fx.Graph(), {}, []
    homes = _homes_of_sizes(placeholders)
    for position, node in enumerate(placeholders):
        if node not in sizes:
            values[node] = graph.node_copy(node)
            kept.append(position)
    for node in sizes:
        if not node.users:
            continue
        home = homes.get(str(node.meta["example_value"]))
        if home is None:
            raise CaptureFailure("unsupported", f"found the size '{node.target}', which is no axis of an input")
        values[node] = graph.call_method("size", (values[home[0]], home[1]))
    for node in module.graph.nodes:
        if node.op != "placeholder":
            values[node] = graph.node_copy(node, lambda used: values[used])
    return FullGraph(fx.GraphModule(module, graph), [inputs[position] for position in kept]), kept


def _homes_of_sizes(placeholders: list[fx.Node]) -> dict[str, tuple[fx.Node, int]]:
    """Symbol -> a tensor argument and the axis that has this size."""
    homes: dict[str, tuple[fx.Node, int]] = {}
    for node in placeholders:
        value = node.meta.get("example_value")
        for axis, size in enumerate(getattr(value, "shape", ())):
            homes.setdefault(str(size), (node, axis))
    return homes
