"""The modules of a pass, imported under their names from their texts; and stand-ins for all that they import but that is
not here: libraries such as PyTorch, which no kernel can use, and what passnet has blanked out."""

import importlib
import importlib.abc
import importlib.machinery
import linecache
import sys
import types

_files: set[str] = set()  # of the modules that were loaded


class StandIn(types.ModuleType):
    """`import torch` without PyTorch: every name in it is another stand-in. What Triton says when a kernel uses one names it."""

    __path__: list = []

    def __getattr__(self, name: str) -> "StandIn":
        value = _missing(self.__name__, name)
        setattr(self, name, value)
        return value

    def __call__(self, *arguments, **keywords) -> "StandIn":
        return self

    def __repr__(self) -> str:
        return self.__name__


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds the modules of the pass."""

    def __init__(self, modules: list[dict]) -> None:
        self.modules = {module["name"]: module for module in modules}
        # "pass_dir.shared" lies in the package "pass_dir", which has no text unless one is given.
        self.packages = {name[:at] for name in self.modules for at, c in enumerate(name) if c == "."}

    def find_spec(self, name, path=None, target=None):
        if name in self.modules or name in self.packages:
            return importlib.machinery.ModuleSpec(name, self, is_package=name in self.packages)
        return None

    def create_module(self, spec):
        return None

    def exec_module(self, module) -> None:
        name = module.__name__
        # A name that was blanked out; a kernel that uses it does not get as far as this.
        module.__getattr__ = lambda missing: _missing(name, missing)
        given = self.modules.get(name)
        if given is None:
            return
        file, text = given["file"], given["text"]
        module.__file__ = file
        _files.add(file)
        # Where inspect finds the source of a function; without a time, so that nobody looks for the file.
        linecache.cache[file] = len(text), None, text.splitlines(keepends=True), file
        exec(compile(text, file, "exec", dont_inherit=True), module.__dict__)


class _LastFinder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds everything that nothing else has found."""

    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ("triton", "passnet_triton"):
            return None
        return importlib.machinery.ModuleSpec(name, self, is_package=True)

    def create_module(self, spec):
        return StandIn(spec.name)

    def exec_module(self, module) -> None:
        pass


def _missing(module: str, name: str) -> StandIn:
    if name.startswith("__"):
        raise AttributeError(f"module {module!r} has no attribute {name!r}")
    return StandIn(f"{module}.{name}")


def file_of_pass(file: str) -> bool:
    """Whether a text that was loaded here has that name."""
    return file in _files


def load(modules: list[dict]) -> types.ModuleType:
    """The first of the modules; the others are imported where a module asks for them."""
    for module in modules:
        sys.modules.pop(module["name"], None)  # one of the standard library's names
    sys.meta_path[:] = [_Finder(modules), *sys.meta_path, _LastFinder()]
    return importlib.import_module(modules[0]["name"])
