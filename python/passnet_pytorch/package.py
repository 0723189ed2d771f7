"""Graphs compiled ahead of time: torch.export and AOTInductor make a package (.pt2) of one, for passnet-worker to load."""

import hashlib
import pathlib
import subprocess

import torch
from torch._inductor import exc

from .bundles import outputs_of, value_of
from .refused import Refused
from .vectors import skip_trials

# The worker has PyTorch's libraries loaded, and need not find them by name; a library of CUDA's it opens itself.
OPTIONS = {"aot_inductor.link_libtorch": False}
# What keeps a graph from being compiled and says nothing about it.
ENVIRONMENT = (exc.InvalidCxxCompiler, OSError, MemoryError)


def refused(step, problem):
    """A graph that was not compiled, with the first line of why."""
    lines = [line.strip() for line in str(problem).splitlines() if line.strip()]
    kind = "resource" if of_the_machine(problem) else "unsupported"
    return Refused(kind, f"{step}: {type(problem).__name__}: {lines[0] if lines else 'no reason given'}")


def of_the_machine(problem):
    """Whether an error, or one that it came from, is none of the graph's."""
    while problem is not None:
        if isinstance(problem, ENVIRONMENT):
            return True
        problem = getattr(problem, "inner_exception", None) or problem.__cause__
    return False


def example(entry, device):
    """A tensor of an input's type. Its elements decide nothing."""
    return torch.zeros(entry["shape"], dtype=getattr(torch, entry["dtype"]), device=device)


class Returned:
    """What a module was seen to return: by output None for a tensor, else its VALUE."""

    def __init__(self):
        self.values = []


class TensorsAlone(torch.nn.Module):
    """A module without what it returns besides tensors, which a package cannot return."""

    def __init__(self, module, seen):
        super().__init__()
        self.module, self.seen = module, seen

    def forward(self, *inputs):
        returned = outputs_of(self.module(*inputs))
        if any(isinstance(one, (list, tuple)) for one in returned):
            raise TypeError("the graph returns lists, expected tensors and numbers")
        # Not in an attribute of this module: torch.export gives these the values back that they had.
        self.seen.values = [None if isinstance(one, torch.Tensor) else value_of(one) for one in returned]
        return tuple(one for one in returned if isinstance(one, torch.Tensor))


def write_package(module, inputs, device, path):
    """Compiles a module for inputs of these types ([BUNDLE entry]) to a package at `path`, which returns the tensors among
    the outputs. By output None for a tensor, else its VALUE."""
    seen = Returned()
    skip_trials()
    step = "torch.export"
    try:
        with torch.no_grad():
            program = torch.export.export(TensorsAlone(module, seen), tuple(example(entry, device) for entry in inputs), strict=False)
        step = "AOTInductor"
        torch._inductor.aoti_compile_and_package(program, package_path=str(path), inductor_configs=OPTIONS)
    except Exception as problem:
        raise refused(step, problem) from problem
    return seen.values


def describe():
    """What decides a package besides graph and machine, in one line: versions, and a hash of this file."""
    try:
        compiler = subprocess.run(["g++", "--version"], capture_output=True, text=True, check=False).stdout
    except OSError:
        compiler = ""
    own = hashlib.sha256(pathlib.Path(__file__).read_bytes()).hexdigest()[:12]
    return f"AOTInductor of torch {torch.__version__}, {compiler.splitlines()[0] if compiler else 'no g++'}, {own}"
