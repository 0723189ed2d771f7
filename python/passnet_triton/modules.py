"""The modules of a pass, imported under their names from their texts; and stand-ins for the libraries that they import
but that no kernel can use."""

import importlib.abc
import importlib.machinery
import linecache
import sys
import types

_STAND_INS = ("torch", "numpy")
_files: set[str] = set()  # of the modules that were loaded


class StandIn(types.ModuleType):
    """`import torch` without PyTorch: every name in it is another stand-in."""

    __path__: list = []

    def __getattr__(self, name: str) -> "StandIn":
        if name.startswith("__"):
            raise AttributeError(name)
        value = StandIn(f"{self.__name__}.{name}")
        setattr(self, name, value)
        return value

    def __call__(self, *arguments, **keywords) -> "StandIn":
        return self

    def __repr__(self) -> str:
        return self.__name__


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def __init__(self, modules: list[dict]) -> None:
        self.modules = {module["name"]: module for module in modules}
        # "pass_dir.shared" lies in the package "pass_dir", which has no text unless one is given.
        self.packages = {name[:at] for name in self.modules for at, c in enumerate(name) if c == "."}

    def find_spec(self, name, path=None, target=None):
        if name in self.modules or name in self.packages or name.split(".")[0] in _STAND_INS:
            return importlib.machinery.ModuleSpec(name, self, is_package=name in self.packages)
        return None

    def create_module(self, spec):
        known = spec.name in self.modules or spec.name in self.packages
        return None if known else StandIn(spec.name)

    def exec_module(self, module) -> None:
        given = self.modules.get(module.__name__)
        if given is None:
            return
        file, text = given["file"], given["text"]
        module.__file__ = file
        _files.add(file)
        # Where inspect finds the source of a function; without a time, so that nobody looks for the file.
        linecache.cache[file] = len(text), None, text.splitlines(keepends=True), file
        exec(compile(text, file, "exec", dont_inherit=True), module.__dict__)


def file_of_pass(file: str) -> bool:
    """Whether a text that was loaded here has that name."""
    return file in _files


def load(modules: list[dict]) -> types.ModuleType:
    """The first of the modules; the others are imported where a module asks for them."""
    sys.meta_path.insert(0, _Finder(modules))
    return __import__(modules[0]["name"], fromlist=["*"])
