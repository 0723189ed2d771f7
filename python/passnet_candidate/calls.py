"""A loaded graph with its inputs, and timed and untimed calls of it."""

import gc
import itertools
import random

import torch
import torch.fx

from passnet_pytorch import bundles
from passnet_pytorch.clocks import clock_of
from passnet_pytorch.replaced import Replaced

from . import recorder, rewrite
from .errors import RequestError

_SEED = 1024  # of random operators, before every call, where nothing else is asked for, as in passnet-worker
_ROTATED_SETS = 3
_FLUSHED_BYTES = 256 << 20  # the level 2 cache of an H200 holds 60 MB
_PLAY_BYTES = 4096  # by which an input may lie elsewhere than in the call before


def _on_device(graph, device):
    """What a graph names as its device is the one under test."""

    def moved(value):
        if isinstance(value, torch.device):
            return device
        return value

    for node in graph.nodes:
        node.args = torch.fx.node.map_aggregate(node.args, moved)
        node.kwargs = torch.fx.node.map_aggregate(node.kwargs, moved)
        if isinstance(node.kwargs.get("device"), str):
            node.kwargs = {**node.kwargs, "device": device}


def _same(a, b):
    """Whether two tensors hold the same bits."""
    if a.dtype != b.dtype or a.shape != b.shape:
        return False
    a, b = (one.detach().contiguous().reshape(-1).view(torch.uint8) if one.numel() else one for one in (a, b))
    return torch.equal(a, b)


def _strides(tensor):
    return [stride if size > 1 else 0 for size, stride in zip(tensor.shape, tensor.stride())]


class LoadedGraph:
    def __init__(self, text, file, rules, device):
        self.device = device
        graph, self.names = recorder.record_model(text, file)
        self.outcomes = []
        for rule in rules:
            matches, why_none = rewrite.apply(graph, rule)
            self.outcomes.append({"pass": rule.name, "matches": matches, "diagnosis": why_none})
        self.operators = sum(node.op in ("call_function", "call_method") for node in graph.nodes)
        _on_device(graph, device)
        self.call = torch.fx.GraphModule(torch.nn.Module(), graph).forward
        self.inputs, self.originals, self.changed, self.checked, self.sets = None, [], [], (), None
        self.replaced = Replaced()
        self.call_seed = self.own_seed = _SEED

    def set_inputs(self, tensors):
        self.originals = [tensors[name].to(self.device) for name in self.names]
        self.inputs = [tensor.clone() for tensor in self.originals]
        self.changed = list(range(len(self.inputs)))  # any may be, until a call has told

    def set_call_seed(self, request):
        """Seeds the random operators of calls on the inputs that the request `set_inputs` set."""
        self.call_seed = self.own_seed if request.get("restore") else request.get("call_seed", _SEED)
        if not request.get("replace"):
            self.own_seed = self.call_seed

    def _begin(self, inputs):
        """Before a call: these inputs as they were set, and random numbers as every call has them."""
        for i in self.changed:
            inputs[i].copy_(self.originals[i])
        torch.manual_seed(self.call_seed)

    def run(self):
        """One call. Returns (fields, tensors) of the reply to `run`."""
        if self.inputs is None:
            raise RequestError("no inputs are set")
        self._begin(self.inputs)
        with torch.no_grad():
            outputs = bundles.outputs_of(self.call(*self.inputs))
        self.changed = [i for i, tensor in enumerate(self.inputs) if not _same(tensor, self.originals[i])]
        self.checked = tuple(one.clone() if isinstance(one, torch.Tensor) else one for one in outputs)
        tensors = bundles.tensors_in(outputs)
        fields = {"scalars": bundles.scalars_in(outputs), "layouts": self._layouts(outputs)}
        gc.freeze()  # what is loaded and compiled by now is not looked through again before each block of timed calls
        return fields, tensors, self._changed_inputs(self.inputs)

    def _changed_inputs(self, inputs, prefix=""):
        return {f"{prefix}in_{self.names[i]}": inputs[i] for i in self.changed}

    def _layouts(self, outputs):
        """[LAYOUT] of docs/protocol.md."""
        layouts = []
        for i, tensor in enumerate(outputs):
            layouts.append({"strides": [], "offset": 0})
            if not isinstance(tensor, torch.Tensor):
                continue
            if tensor.numel() > 0:
                layouts[i] = {"strides": _strides(tensor), "offset": tensor.storage_offset()}
            others = [(f"input {name}", one) for name, one in zip(self.names, self.inputs)]
            others += [(f"output {k}", one) for k, one in enumerate(outputs[:i]) if isinstance(one, torch.Tensor)]
            shared = next((name for name, one in others if torch._C._is_alias_of(tensor, one)), None)
            if shared:
                layouts[i]["shares"] = shared
        return layouts

    def time(self, calls, clock, fresh, flush, settle, fingerprint):
        """Fields of the reply to `time`."""
        clock = clock_of(self.device, clock)
        sets = [[tensor.clone() for tensor in self.originals] for _ in range(_ROTATED_SETS)] if fresh else [self.inputs]
        turns = itertools.cycle(sets)
        buffer = torch.empty(_FLUSHED_BYTES, dtype=torch.uint8, device=self.device) if flush else None

        def prepare():
            inputs = next(turns)
            self._begin(inputs)
            if settle:
                self.call(*inputs)
                self._begin(inputs)
            if flush:
                buffer.zero_()
            return inputs

        times, differing = [], 0
        with _undisturbed():
            for _ in range(calls):
                time_us, outputs = clock(self.call, prepare)
                times.append(time_us)
                differing += fingerprint and not self._is_as_checked(bundles.outputs_of(outputs))
                del outputs
        return {"times_us": times, "changed": differing, "mode": "Python"}

    def _is_as_checked(self, outputs):
        return len(outputs) == len(self.checked) and all(
            _same(one, other) if isinstance(one, torch.Tensor) and isinstance(other, torch.Tensor) else one == other
            for one, other in zip(outputs, self.checked)
        )

    def set_call_sets(self, entries, stride, sets, descriptor):
        self.sets = entries, stride, sets, bundles.mapped(descriptor)

    def _elsewhere(self, tensor):
        """A copy on the device at an address of its own, and what keeps that address from being the usual one."""
        pad = torch.empty(random.randrange(_PLAY_BYTES), dtype=torch.uint8, device=self.device)
        return tensor.clone() if tensor.device == self.device else tensor.to(self.device, copy=True), pad

    def _set(self, number):
        """The inputs of one set, and their pads."""
        entries, stride, count, memory = self.sets
        if number >= count:
            raise RequestError(f"set {number} of {count}")
        by_name = {entry["name"]: entry for entry in entries}
        return [self._elsewhere(bundles.view(by_name[name], memory, number * stride)) for name in self.names]

    def time_on_sets(self, calls, together, settling, seed):
        """(fields, tensors) of the reply to `time_on_sets`."""
        if together != 1:
            raise RequestError(f"{together} calls together, expected 1")
        clock = clock_of(self.device, "host")
        times, tensors, scalars = [], {}, {}
        with _undisturbed():
            for number in range(-settling, calls):
                placed = [self._elsewhere(one) for one in self.originals] if number < 0 else self._set(number)
                inputs = [tensor for tensor, _ in placed]

                def prepare():
                    torch.manual_seed(self.call_seed if number < 0 else (seed + (number << 32)) & (2**64 - 1))
                    return inputs

                time_us, outputs = clock(self.call, prepare)
                if number < 0:
                    continue
                outputs = bundles.outputs_of(outputs)
                times.append(time_us)
                # A later call may write to what this one gave: host code can keep it.
                given = {**bundles.tensors_in(outputs, f"{number}/"), **self._changed_inputs(inputs, f"{number}/")}
                tensors.update({name: tensor.detach().clone().cpu() for name, tensor in given.items()})
                scalars.update(bundles.scalars_in(outputs, f"{number}/"))
                del outputs, placed, given
        return {"times_us": times, "mode": "Python", "scalars": scalars}, tensors

    def read_clocks(self, calls):
        """Fields of the reply to `read_clocks`."""
        clock = clock_of(self.device, "host")
        on_gpu = self.device.type == "cuda"

        def one():
            self._begin(self.inputs)
            self.call(*self.inputs)

        def all_of_them():
            for _ in range(calls):
                one()

        # passnet's own clock runs from question to answer: nothing may be done here besides.
        with _undisturbed(collect=False):
            if on_gpu:
                start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
                torch.cuda.synchronize()
                start.record()
            calls_us, _ = clock(all_of_them, lambda: ())
            if not on_gpu:
                return {"calls_us": calls_us}
            end.record()
            end.synchronize()
            return {"calls_us": calls_us, "device_us": start.elapsed_time(end) * 1000}


class _undisturbed:
    """No garbage is collected and no gradient kept while calls are timed."""

    def __init__(self, collect=True):
        self.collect = collect

    def __enter__(self):
        if self.collect:
            gc.collect()
        gc.disable()
        self.no_grad = torch.no_grad()
        self.no_grad.__enter__()

    def __exit__(self, *problem):
        self.no_grad.__exit__(*problem)
        gc.enable()
