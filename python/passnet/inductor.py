"""Passes in Inductor: what the modules of `passnet export --inductor` are made of (docs/bundles.md).

    torch.compile(model, options={"joint_custom_pre_pass": exported.graph_pass})
"""

from __future__ import annotations

import base64
import inspect
import json
import logging
import os
from typing import Any, Callable, Mapping, Sequence

import torch
from torch._inductor import pattern_matcher
from torch._inductor.custom_graph_pass import CustomGraphPass
from torch._inductor.fx_passes.post_grad import remove_noop_ops

from .errors import Error

log = logging.getLogger("passnet")


class Plan:
    """The kernels of a launch list for inputs of given types, compiled or in Triton."""

    def __init__(self, text: str):
        self.facts = json.loads(text)
        self.list: dict[str, Any] = self.facts["list"]
        self.key = tuple(_type(_dtype(one), one["shape"], one["strides"]) for one in self.facts["inputs"])
        self.is_triton = any(launch.get("source") == "triton" for launch in self.list["launches"])
        self.run: Callable | None = None  # its outputs for the tensors that it takes

    @property
    def device(self) -> str:
        return "cuda" if self.facts["target"].startswith("sm_") else "cpu"

    def why_not(self) -> str:
        """Why its kernels do not run on this machine; empty: they do."""
        target, processor = self.facts["target"], self.facts["processor"]
        if self.device == "cuda":
            found = "sm_{}{}".format(*torch.cuda.get_device_capability()) if torch.cuda.is_available() else "no GPU"
            return "" if found == target or self.is_triton and found != "no GPU" else f"kernels are for {target}, found {found}"
        from . import _C

        return "" if _C.target_runs(target, processor) else f"kernels are for {target}, and not for this processor"

    def load(self, objects: Mapping[str, str], names: Mapping[str, Any]) -> None:
        """objects: compiled kernels by SHA-256, in base64. names: those of the module, for kernels of Triton."""
        self.run = _triton_runner(self.list, names) if self.is_triton else _compiled_runner(self.list, self.facts["kernels"], objects)

    def empty_outputs(self, device: torch.device) -> tuple[torch.Tensor, ...]:
        return tuple(torch.empty_strided(one["shape"], one["strides"], dtype=_dtype(one), device=device) for one in self.list["outputs"])

    def examples(self) -> list[torch.Tensor]:
        return [torch.empty_strided(one["shape"], one["strides"], dtype=_dtype(one), device=self.device).zero_() for one in self.facts["inputs"]]


class Pattern:
    """A pattern and the plans that run in its place.

    name: of the pass. forward: the pattern as PyTorch computes it. constants: those of its arguments that are no tensors.
    calls: how often a plan has run.
    """

    def __init__(self, name: str, forward: Callable, constants: Mapping[str, Any], plans: Sequence[str]):
        self.name, self.forward, self.constants = name, forward, dict(constants)
        self.plans = {plan.key: plan for plan in map(Plan, plans)}
        self.tensors = [one for one in inspect.signature(forward).parameters if one not in constants]
        self.calls = 0

    def reference(self, *tensors):
        """Computes the pattern by PyTorch. Returns: a tensor, or a tuple of tensors."""
        return self.forward(**dict(zip(self.tensors, tensors)), **self.constants)

    def plan_for(self, tensors: Sequence[torch.Tensor]) -> Plan | None:
        try:
            return self.plans.get(tuple(_type(one.dtype, one.shape, one.stride()) for one in tensors))
        except TypeError:  # a size is a symbol
            return None

    def operator(self, name: str) -> Callable:
        """Registers the operator `passnet::NAME`, which runs a plan, or the pattern for other inputs."""
        count = len(next(iter(self.plans.values())).list["outputs"])
        schema = "({}) -> {}".format(", ".join(f"Tensor {one}" for one in self.tensors), "(" + ", ".join(["Tensor"] * count) + ")" if count > 1 else "Tensor")

        def outputs_of(found: Sequence[torch.Tensor]):
            return tuple(found) if count > 1 else found[0]

        def run(*tensors):
            plan = self.plan_for(tensors)
            if plan is not None and plan.run is not None:
                try:
                    found = plan.run(*(tensors[place] for place in plan.facts["takes"]))
                except Error as error:
                    raise RuntimeError(error.text) from error
                self.calls += 1
                return outputs_of(found)
            found = self.reference(*tensors)
            return outputs_of([one.clone() for one in (found if isinstance(found, tuple) else (found,))])

        def fake(*tensors):
            plan = self.plan_for(tensors)
            if plan is not None:
                return outputs_of(plan.empty_outputs(tensors[0].device))
            found = self.reference(*tensors)
            return outputs_of([torch.empty_like(one) for one in (found if isinstance(found, tuple) else (found,))])

        made = torch.library.custom_op(f"passnet::{name}", run, mutates_args=(), schema=schema)
        made.register_fake(fake)
        return made


class GraphPass(CustomGraphPass):
    """Puts the operators of `patterns` into graphs of Inductor, where the types of inputs are those that kernels were made for."""

    def __init__(self, uuid: str, patterns: Sequence[Pattern], objects: Mapping[str, str], names: Mapping[str, Any]):
        self._uuid = uuid
        self.patterns = list(patterns)
        self.replaced = 0  # matches in all graphs so far
        self._matcher = pattern_matcher.PatternMatcherPass("passnet")
        for number, pattern in enumerate(self.patterns):
            self._add(f"{pattern.name}_{uuid[:12]}_{number}", pattern, objects, names)

    def uuid(self) -> str:
        return self._uuid

    def __deepcopy__(self, memo) -> GraphPass:
        return self  # Inductor copies its options; the operators are registered once

    def __call__(self, graph: torch.fx.Graph) -> None:
        remove_noop_ops(graph)
        self.replaced += self._matcher.apply(graph)

    def _add(self, name: str, pattern: Pattern, objects: Mapping[str, str], names: Mapping[str, Any]) -> None:
        operator = pattern.operator(name)
        signature = inspect.Signature([inspect.Parameter(one, inspect.Parameter.POSITIONAL_OR_KEYWORD) for one in pattern.tensors])

        def search(*tensors):
            return pattern.reference(*tensors)

        def replace(*tensors):
            return operator(*tensors)

        search.__signature__ = replace.__signature__ = signature

        def is_known(match) -> bool:
            plan = pattern.plan_for([match.kwargs[one].meta["val"] for one in pattern.tensors])
            return plan is not None and plan.run is not None

        for plan in pattern.plans.values():
            why = plan.why_not()
            if why:
                log.warning("pass '%s' is not used: %s", pattern.name, why)
                continue
            plan.load(objects, names)
            with torch.no_grad():
                pattern_matcher.register_replacement(search, replace, plan.examples(), pattern_matcher.fwd_only, self._matcher, extra_check=is_known,
                                                     skip_duplicates=True)  # fmt: skip


def _dtype(facts: Mapping[str, Any]) -> torch.dtype:
    return getattr(torch, facts["dtype"])


def _type(dtype: torch.dtype, shape: Sequence[int], strides: Sequence[int]) -> tuple:
    """Equal for tensors that a kernel takes for one another. Raises TypeError for sizes that are symbols."""
    if not all(isinstance(size, int) for size in (*shape, *strides)):
        raise TypeError
    return dtype, tuple(shape), tuple(stride for size, stride in zip(shape, strides) if size > 1)


def _compiled_runner(launches: dict[str, Any], kernels: Sequence[dict[str, Any]], objects: Mapping[str, str]) -> Callable:
    from . import _C

    inputs = [f"a_{i}" for i, buffer in enumerate(launches["buffers"]) if "input" in buffer]
    outputs = [f"o_{i}" for i in range(len(launches["outputs"]))]
    lines = [f"        {name} = t[{i}]" for i, name in enumerate(outputs)]
    model = "\n".join(["import passnet", "import torch", "", "", "class GraphModule(torch.nn.Module):", f"    def forward(self, {', '.join(inputs)}):",
                       f"        t = passnet.fused(0, {', '.join(inputs)})", *lines, f"        return ({', '.join(outputs)},)", ""])  # fmt: skip
    files = {}
    try:
        for sha256 in {kernel["sha256"] for kernel in kernels}:
            files[sha256] = os.memfd_create(sha256)
            with open(files[sha256], "wb", closefd=False) as file:
                file.write(base64.b64decode(objects[sha256]))
        rows = [{**kernel, "object": f"/proc/self/fd/{files[kernel['sha256']]}"} for kernel in kernels]
        return _C.Graph(model, json.dumps({"lists": [launches], "kernels": [rows]}))
    finally:
        for file in files.values():
            os.close(file)


def _triton_runner(launches: dict[str, Any], names: Mapping[str, Any]) -> Callable:
    """Launches the kernels of the module as the plan did."""

    def run(*inputs):
        device = inputs[0].device
        buffers = []
        for buffer in launches["buffers"]:
            if "input" in buffer:
                buffers.append(inputs[buffer["input"]])
                continue
            made = torch.empty_strided(buffer["shape"], buffer["strides"], dtype=_dtype(buffer), device=device)
            buffers.append(made.fill_(_constant({"float": buffer["fill"]})) if "fill" in buffer else made)

        def view(facts):
            base = buffers[facts["buffer"]]
            return torch.as_strided(base, facts["shape"], facts["strides"], base.storage_offset() + facts["offset"])

        for launch in launches["launches"]:
            values = {one: view(arg) if "buffer" in arg else _constant(arg) for one, arg in zip(launch["parameters"], launch["args"])}
            values |= {one["name"]: _constant(one) for one in launch["constants"]}
            names[launch["kernel"]][tuple(launch["grid"])](**values)
        return tuple(view(one) for one in launches["outputs"])

    return run


def _constant(facts: Mapping[str, Any]) -> Any:
    for kind in ("int", "bool", "string"):
        if kind in facts:
            return facts[kind]
    if "float" in facts:
        return float(facts["float"])
    return getattr(torch, facts["dtype"]) if "dtype" in facts else None
