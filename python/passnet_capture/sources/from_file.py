"""Models that a function of a Python file returns."""

import importlib.util
import sys
from pathlib import Path

import torch

from ..causes import CaptureFailure
from ..plan import Plan, Shape
from . import SourceError


class FileSource:
    """FILE.py:function; the function returns (model, kwargs), or a list of (tag, model, kwargs), one per shape."""

    name = "file"
    library_version = None
    licence = None

    def __init__(self, path: Path, function: str):
        if not path.is_file():
            raise SourceError(f"found no file '{path}', expected FILE.py:function")
        if not function.isidentifier():
            raise SourceError(f"found the function name '{function}', expected FILE.py:function")
        self.path, self.function = path.resolve(), function

    def names(self) -> list[str]:
        return [f"{self.path.stem}:{self.function}"]

    def left_out(self, name: str) -> str | None:
        return None

    def plan(self, name: str, shapes: int) -> Plan:
        spec = importlib.util.spec_from_file_location(self.path.stem, self.path)
        module = importlib.util.module_from_spec(spec)
        sys.modules.setdefault(self.path.stem, module)
        spec.loader.exec_module(module)
        if not hasattr(module, self.function):
            raise CaptureFailure("not-found", f"found no function '{self.function}' in {self.path.name}, expected one that returns "
                                 "(model, kwargs) or a list of (tag, model, kwargs)")  # fmt: skip
        made = getattr(module, self.function)()
        entries = made if isinstance(made, list) else [("default", *made) if isinstance(made, tuple) else made]
        slots = []
        for entry in entries:
            if not (isinstance(entry, tuple) and len(entry) == 3 and isinstance(entry[1], torch.nn.Module) and isinstance(entry[2], dict)):
                raise CaptureFailure("constructor", f"found {type(made).__name__} from {self.function}(), expected (model, kwargs) or a "
                                     "list of (tag, model, kwargs) with a torch.nn.Module and a dict")  # fmt: skip
            slots.append([_shape(*entry)])
        return Plan(slots, "other")


def _shape(tag: str, model: torch.nn.Module, arguments: dict) -> Shape:
    first = next((value for value in arguments.values() if isinstance(value, torch.Tensor) and value.dim()), None)
    return Shape(tag, first.shape[0] if first is not None else 1, model, lambda: arguments)
