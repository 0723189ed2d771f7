"""Runs modules under Dynamo and hands over the graphs that it finds."""

from __future__ import annotations

import threading
from typing import Any, Callable, Mapping, Sequence

import torch
from torch import fx

from .errors import Unsupported
from .form import CaptureFailure, Form, form_of

See = Callable[[fx.GraphModule, list[Any]], None]


class _Traced(Exception):
    """Raised in place of running a captured graph."""


class _Shows:
    """A backend whose graphs show themselves, at every call, to whoever listens in this thread.

    Dynamo keeps what a backend compiled and calls a known graph without compiling it again, so compilation shows nothing.
    """

    def __init__(self, runs: bool):
        self.runs = runs
        self.local = threading.local()

    def __call__(self, graph: fx.GraphModule, inputs: list[Any]):
        def show(*values):
            self.local.see(graph, list(values))
            if not self.runs:
                raise _Traced
            return graph.forward(*values)

        return show

    def call(self, module: Callable, args: Sequence[Any] | Mapping[str, Any], see: See, **options) -> Any:
        self.local.see = see
        try:
            return call(torch.compile(module, backend=self, dynamic=False, **options), args)
        finally:
            self.local.see = None


_TRACES, _RUNS = _Shows(runs=False), _Shows(runs=True)


def trace_whole(module: Callable, args: Sequence[Any] | Mapping[str, Any], form: Callable[[fx.GraphModule, list[Any]], Form] = form_of) -> Form:
    """The one graph of a call, which is not run, in the form that `form` gives it. Raises Unsupported."""
    found: list[Form] = []
    try:
        _TRACES.call(module, args, lambda graph, values: found.append(form(graph, values)), fullgraph=True)
    except _Traced:
        pass
    except CaptureFailure as failure:
        raise Unsupported(str(failure), "unsupported") from failure
    except torch._dynamo.exc.Unsupported as error:
        reason = str(error).splitlines()[0]
        raise Unsupported(f"found a graph break, expected one graph: {reason}", "unsupported",
                          "capture a part of the module, or compile it with backend='passnet', which takes several graphs") from error  # fmt: skip
    if not found:
        raise Unsupported("found no operator, expected a graph", "unsupported")
    return found[0]


def trace_all(module: Callable, args: Sequence[Any] | Mapping[str, Any], see: See) -> Any:
    """Runs a call and shows each graph of it to `see` before it runs. Returns what the module returned."""
    return _RUNS.call(module, args, see)


def call(function: Callable, args: Sequence[Any] | Mapping[str, Any]) -> Any:
    with torch.no_grad():
        return function(**args) if isinstance(args, Mapping) else function(*args)
