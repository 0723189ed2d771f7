"""torch.compile(model, backend="passnet"): graphs run in one call each, with the passes that were judged for them."""

from __future__ import annotations

import json
import logging
import threading
from dataclasses import dataclass, fields, replace
from typing import Any, Callable, Sequence

import torch
from torch import fx
from torch.fx._lazy_graph_module import _LazyGraphModule

from . import cache, programs
from .errors import BadInput, Error
from .form import CaptureFailure, Form, type_of
from .rewrites import form_as_run

log = logging.getLogger("passnet")
_said: set[str] = set()
MOST_LAYOUTS = 1000  # whose passes are remembered, of one graph


@dataclass(frozen=True)
class Options:
    """mode: "cached" uses passes that are known; "tune" also writes them in the background; "dryrun" only says what would be used.

    budget_s: as of tune(), for "tune". otherwise: what runs a graph that PassNet cannot run: "eager" or
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
        require_budget(made.budget_s)
        return made


def require_budget(seconds: Any) -> None:
    """Raises BadInput."""
    if not isinstance(seconds, (int, float)) or not 0 < seconds < float("inf"):
        raise BadInput(f"budget_s={seconds!r}: expected a number of seconds above 0")


def backend(module: fx.GraphModule, inputs: Sequence[Any], *, options: dict[str, Any] | None = None, **_) -> Callable:
    """Compiles one graph of Dynamo; torch.compile calls it for each."""
    chosen = Options.read(options)
    programs.require_torch()
    try:
        reason = _refusal(module, inputs)
        if reason:
            return _fall_back(module, inputs, chosen, reason)
        made = Compiled(form_as_run(module, list(inputs)), module, inputs, chosen)
    except (CaptureFailure, Error) as problem:
        return _fall_back(module, inputs, chosen, str(problem).splitlines()[0])
    return made


class Compiled:
    """A graph of Dynamo as it runs: known passes, or none yet. Called with Dynamo's arguments."""

    def __init__(self, form: Form, module: fx.GraphModule, inputs: Sequence[Any], options: Options):
        self.form, self.options, self.module = form, options, module
        self._lock = threading.Lock()
        self._writes = False  # to its arguments, maybe
        self._runs: dict[Any, Callable] = {}  # by sizes and strides; a graph without symbolic ones has one
        self._without_passes = _inductor(module, inputs) if options.otherwise == "inductor" else self._bind(_graph(form, form.text, {}))
        self._generation = cache.generation
        known = self._find(form)
        self._runs[self._layouts(inputs)] = known or self._without_passes
        if options.mode == "tune" and known is None:
            from .tuning import tune_in_background

            tune_in_background(replace(form), options)
        form.graph = None  # holds the inputs of the first call

    def __call__(self, *arguments):
        layouts = self._layouts(arguments)
        run = self._runs.get(layouts) if self._generation == cache.generation else None
        run = run or self._look_for(layouts, arguments)
        try:
            return run(*arguments)
        except Error as error:
            refused = error
        if refused.kind != "other-shapes":
            return self._as_pytorch(refused, arguments)
        _say(f"passes for other shapes or layouts are not used: {self.form.identity[:12]}")
        self._runs[layouts] = self._without_passes
        return self(*arguments)

    def _as_pytorch(self, error: Error, arguments: Sequence[Any]) -> Any:
        """Lets PyTorch raise its own exception for what an operator refused, unless arguments may be written to a second time."""
        if self._writes:
            raise RuntimeError(error.text) from error
        result = _eager(self.module)(*arguments)
        _say(f"a call ran by eager: {error.message}")
        return result

    def _layouts(self, arguments: Sequence[Any]) -> Any:
        return tuple((one.shape, one.stride()) for one in arguments if isinstance(one, torch.Tensor)) if self.form.dynamic else None

    def _look_for(self, layouts: Any, arguments: Sequence[Any]) -> Callable:
        """Notes what runs inputs of these layouts by now."""
        with self._lock:
            if self._generation != cache.generation or len(self._runs) >= MOST_LAYOUTS:
                self._runs.clear()
                self._generation = cache.generation
            tensors = [arguments[position] for position in self.form.positions] + self.form.constants
            self._runs[layouts] = self._find(replace(self.form, types=[type_of(one) for one in tensors])) or self._without_passes
            return self._runs[layouts]

    def _find(self, form: Form) -> Callable | None:
        """The graph with the passes that are known for it."""
        try:
            entry, why = cache.find(form, self.options.cache_dir)
        except Error as error:
            _say(f"no passes are used: {error.message}")
            return None
        if entry is None and why != cache.UNKNOWN:
            _say(f"known passes are not used: {why}")
        if self.options.mode == "dryrun":
            _say(f"graph {form.identity[:12]}: " + (f"{entry.status}: {', '.join(entry.passes) or entry.why}" if entry else why))
        elif entry is not None and entry.plan:
            try:
                return self._bind(_graph(form, entry.plan["model"], entry.plan))
            except Error as error:
                _say(f"known passes are not used: {error.message}")
        return self._without_passes if entry else None

    def _bind(self, graph: Any) -> Callable:
        """The graph as a function of Dynamo's arguments."""
        self._writes = self._writes or graph.may_write
        positions, constants = self.form.positions, self.form.constants
        if len(positions) == self.form.arguments and not constants:
            return graph
        return lambda *arguments: graph(*[arguments[position] for position in positions], *constants)


def _graph(form: Form, model: str, plan: dict[str, Any]):
    from . import _C

    gpu = form.place.index if form.place.type == "cuda" else -1
    return _C.Graph(model, json.dumps({"lists": plan.get("lists", []), "kernels": plan.get("kernels", [])}), gpu)


def _refusal(module: fx.GraphModule, inputs: Sequence[Any]) -> str:
    """Why PassNet does not run a graph with these inputs; empty: it does."""
    tensors = [value for value in inputs if isinstance(value, torch.Tensor)]
    if torch.is_grad_enabled() and any(value.requires_grad for value in tensors):
        return "inputs or parameters require gradients: call the model under torch.no_grad() or torch.inference_mode()"
    places = {value.device for value in tensors} or {torch.device("cpu")}
    if len(places) > 1 or next(iter(places)).type not in ("cpu", "cuda"):
        return f"inputs lie on {' and '.join(sorted(map(str, places)))}: a graph runs on the CPU or on one CUDA device"
    place = next(iter(places))
    for node in module.graph.nodes:
        value = node.meta.get("example_value")
        if isinstance(value, torch.Tensor) and value.requires_grad and node.op == "call_function" and _turns_gradients_on(module):
            return f"'{node.name}' requires gradients, as the model turns them on"
        # Numbers as tensors may lie on the CPU; PassNet makes all others where the inputs lie.
        if isinstance(value, torch.Tensor) and value.device != place and (value.dim() or any(user.op == "output" for user in node.users)):
            return f"'{node.name}' lies on {value.device}, and inputs on {place}"
    if torch.is_autocast_enabled(place.type):
        return "autocast is active around the compiled model: put it inside"
    if any(type(value) not in (torch.Tensor, torch.nn.Parameter, torch.nn.Buffer) for value in tensors):
        return "an input is a subclass of torch.Tensor"
    return ""


def _turns_gradients_on(module: fx.GraphModule) -> bool:
    return any(node.args == (True,) for node in module.graph.find_nodes(op="call_function", target=torch._C._set_grad_enabled))


def _fall_back(module: fx.GraphModule, inputs: Sequence[Any], options: Options, reason: str) -> Callable:
    _say(f"a graph runs by {options.otherwise}: {reason}")
    return _inductor(module, inputs) if options.otherwise == "inductor" else _eager(module)


def _eager(module: fx.GraphModule) -> Callable:
    """The graph by PyTorch's operators. Before it is compiled `forward` would print each exception as well."""
    _LazyGraphModule.force_recompile(module)
    return module.forward


def _inductor(module: fx.GraphModule, inputs: Sequence[Any]) -> Callable:
    from torch._dynamo.backends.registry import lookup_backend

    return lookup_backend("inductor")(module, list(inputs))


def _say(text: str) -> None:
    """Warns once per process."""
    if text not in _said:
        _said.add(text)
        log.warning(text)
