"""torch.compile(model, backend="passnet"): graphs run in one call each, with the passes that were judged for them."""

from __future__ import annotations

import json
import logging
import threading
from dataclasses import dataclass, fields, replace
from typing import Any, Callable, Sequence

import torch
from torch import fx

from . import cache, programs
from .errors import BadInput, Error
from .form import CaptureFailure, Form, form_of

log = logging.getLogger("passnet")
_said: set[str] = set()


@dataclass(frozen=True)
class Options:
    """mode: "cached" uses passes that are known; "tune" also writes them in the background; "dryrun" only says what would be used.

    budget_s: seconds for the passes of one graph, for "tune". otherwise: what runs a graph that PassNet cannot run: "eager" or
    "inductor"; "inductor" also runs graphs without passes. cache_dir: where passes are kept; None: below $PASSNET_HOME.
    """

    mode: str = "cached"
    budget_s: float = 60
    otherwise: str = "eager"
    cache_dir: str | None = None

    @classmethod
    def read(cls, options: dict[str, Any] | None) -> Options:
        """Raises BadInput."""
        known = [one.name for one in fields(cls)]
        for name in options or {}:
            if name not in known:
                raise BadInput(f"option '{name}' is not known", hint=f"options are {', '.join(known)}")
        made = cls(**(options or {}))
        for name, allowed in {"mode": ("cached", "tune", "dryrun"), "otherwise": ("eager", "inductor")}.items():
            if getattr(made, name) not in allowed:
                raise BadInput(f"option {name}='{getattr(made, name)}': expected {' or '.join(map(repr, allowed))}")
        return made


def backend(module: fx.GraphModule, inputs: Sequence[Any], *, options: dict[str, Any] | None = None, **_) -> Callable:
    """Compiles one graph of Dynamo; torch.compile calls it for each."""
    chosen = Options.read(options)
    programs.require_torch()
    try:
        reason = _refusal(inputs)
        if reason:
            return _fall_back(module, inputs, chosen, reason)
        made = Compiled(form_of(module, list(inputs)), module, chosen)
    except (CaptureFailure, Error) as problem:
        return _fall_back(module, inputs, chosen, str(problem).splitlines()[0])
    return made


class Compiled:
    """A graph of Dynamo as it runs: known passes, or none yet. Called with Dynamo's arguments."""

    def __init__(self, form: Form, module: fx.GraphModule, options: Options):
        self.form, self.options = form, options
        self.entry: cache.Entry | None = None
        self.why = ""
        self._lock = threading.Lock()
        self._without_passes = _inductor(module, form.graph.inputs) if options.otherwise == "inductor" else self._bind(_graph(form.text, {}))
        self._load()
        if options.mode == "tune" and self.entry is None:
            from .tuning import tune_in_background

            tune_in_background(replace(form), options)
        form.graph = None  # holds the inputs of the first call

    def __call__(self, *arguments):
        if self._generation != cache.generation:
            self._load()
        try:
            return self._run(*arguments)
        except Error as error:
            if error.kind != "other-shapes":
                raise RuntimeError(error.text) from error  # what PyTorch raises where an operator refuses
        _say(f"passes for other shapes or layouts are not used: {self.form.identity[:12]}")
        return self._without_passes(*arguments)

    def _load(self) -> None:
        """Finds the passes that are known by now."""
        with self._lock:
            self._generation = cache.generation
            self.entry, self.why = cache.find(self.form, self.options.cache_dir)
            if self.options.mode == "dryrun":
                _say(f"graph {self.form.identity[:12]}: " + (f"{self.entry.status}: {', '.join(self.entry.passes) or self.entry.why}" if self.entry else self.why))
            elif self.entry is not None and self.entry.plan:
                try:
                    self._run = self._bind(_graph(self.entry.plan["model"], self.entry.plan))
                    return
                except Error as error:
                    self.why = error.message
                    _say(f"known passes are not used: {error.message}")
            self._run = self._without_passes

    def _bind(self, graph: Callable) -> Callable:
        """The graph as a function of Dynamo's arguments."""
        positions, constants = self.form.positions, self.form.constants
        if len(positions) == self.form.arguments and not constants:
            return graph
        return lambda *arguments: graph(*[arguments[position] for position in positions], *constants)


def _graph(model: str, plan: dict[str, Any]):
    from . import _C

    return _C.Graph(model, json.dumps({"lists": plan.get("lists", []), "kernels": plan.get("kernels", [])}))


def _refusal(inputs: Sequence[Any]) -> str:
    """Why PassNet does not run a graph with these inputs; empty: it does."""
    tensors = [value for value in inputs if isinstance(value, torch.Tensor)]
    if torch.is_grad_enabled() and any(value.requires_grad for value in tensors):
        return "inputs or parameters require gradients: call the model under torch.no_grad() or torch.inference_mode()"
    kinds = {value.device.type for value in tensors}
    if kinds - {"cpu"}:
        return f"inputs lie on {' and '.join(sorted(kinds))}: this version runs graphs on the CPU alone"
    if torch.is_autocast_enabled("cpu"):
        return "autocast is active around the compiled model: put it inside"
    if any(type(value) not in (torch.Tensor, torch.nn.Parameter, torch.nn.Buffer) for value in tensors):
        return "an input is a subclass of torch.Tensor"
    return ""


def _fall_back(module: fx.GraphModule, inputs: Sequence[Any], options: Options, reason: str) -> Callable:
    _say(f"a graph runs by {options.otherwise}: {reason}")
    return _inductor(module, inputs) if options.otherwise == "inductor" else module.forward


def _inductor(module: fx.GraphModule, inputs: Sequence[Any]) -> Callable:
    from torch._dynamo.backends.registry import lookup_backend

    return lookup_backend("inductor")(module, list(inputs))


def _say(text: str) -> None:
    """Warns once per process."""
    if text not in _said:
        _said.add(text)
        log.warning(text)
