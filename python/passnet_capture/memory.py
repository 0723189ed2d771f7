"""Models larger than memory: built with parameters that have a shape and an address, but no memory behind them.

Tracing reads no values, so such a model is captured like any other; only its statistics have to be assumed. Buffers
keep their values: rotary frequencies and position tables are small and part of what the model computes.
"""

import contextlib
import gc
import mmap
import warnings
from collections.abc import Callable, Iterable
from typing import TypeVar

import torch
from torch import nn
from torch.overrides import TorchFunctionMode

from .causes import is_out_of_memory

T = TypeVar("T")
_ALIGNMENT = 64  # bytes, as PyTorch's own allocations
_MAP_NORESERVE = getattr(mmap, "MAP_NORESERVE", 0x4000)  # Python 3.11 does not name it


class _TooMany(Exception):
    """The parameters built so far need more memory than there may be used for them."""


def build_within(limit_bytes: int, make: Callable[[], T], modules: Callable[[T], Iterable[nn.Module]]) -> tuple[T, bool]:
    """What `make` returns, and whether its parameters had to be left without values to stay within the limit.

    modules: the models in what `make` returns.
    """
    try:
        with _register_with(_counting(limit_bytes)):
            return make(), False
    except Exception as error:
        if not (isinstance(error, _TooMany) or is_out_of_memory(error)):
            raise
    gc.collect()
    with _register_with(_without_memory), _LargeWithoutMemory(limit_bytes // 4):
        built = make()
    for model in modules(built):
        for name, buffer in model.named_buffers():
            if buffer.device.type == "meta":
                raise MemoryError(f"buffer {name} of {buffer.nbytes >> 20} MiB")
    _give_addresses(modules(built))
    return built, True


def parameter_bytes(models: Iterable[nn.Module]) -> int:
    return sum(parameter.nbytes for parameter in {id(p): p for model in models for p in model.parameters()}.values())


@contextlib.contextmanager
def _register_with(change: Callable[[nn.Parameter], nn.Parameter]):
    """Parameters pass through `change` when a module gets them."""
    original = nn.Module.register_parameter

    def register(module, name, parameter):
        original(module, name, parameter if parameter is None else change(parameter))

    nn.Module.register_parameter = register
    try:
        yield
    finally:
        nn.Module.register_parameter = original


def _counting(limit_bytes: int):
    seen: dict[int, nn.Parameter] = {}

    def count(parameter: nn.Parameter) -> nn.Parameter:
        seen[id(parameter)] = parameter
        if sum(p.nbytes for p in seen.values()) > limit_bytes:
            raise _TooMany
        return parameter

    return count


def _without_memory(parameter: nn.Parameter) -> nn.Parameter:
    if parameter.device.type == "meta":
        return parameter
    return nn.Parameter(parameter.detach().to("meta"), requires_grad=parameter.requires_grad)


class _LargeWithoutMemory(TorchFunctionMode):
    """Makes tensors of more than so many bytes on the meta device: a parameter may be too large before it is registered."""

    FACTORIES = (torch.empty, torch.zeros, torch.ones, torch.full, torch.rand, torch.randn)

    def __init__(self, limit_bytes: int):
        super().__init__()
        self.limit_bytes = limit_bytes

    def __torch_function__(self, function, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if function in self.FACTORIES and "out" not in kwargs:
            made = function(*args, **{**kwargs, "device": "meta"})
            if made.nbytes > self.limit_bytes:
                return made
        return function(*args, **kwargs)


def _give_addresses(models: Iterable[nn.Module]) -> None:
    """Puts CPU parameters in place of those on the meta device: pages that nobody touches and nothing is reserved for."""
    places = [(module, name, parameter) for model in models for module in model.modules()
              for name, parameter in module._parameters.items() if parameter is not None and parameter.device.type == "meta"]  # fmt: skip
    offsets, total = {}, 0
    for _, _, parameter in places:
        if id(parameter) not in offsets:
            offsets[id(parameter)] = total
            total += -(-parameter.nbytes // _ALIGNMENT) * _ALIGNMENT
    if total == 0:
        return
    pages = mmap.mmap(-1, total, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | _MAP_NORESERVE, prot=mmap.PROT_READ)
    made: dict[int, nn.Parameter] = {}
    for module, name, parameter in places:
        if id(parameter) not in made:
            if parameter.numel() == 0:
                values = torch.empty(parameter.shape, dtype=parameter.dtype)
            else:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")  # that the pages cannot be written to
                    values = torch.frombuffer(pages, dtype=parameter.dtype, count=parameter.numel(), offset=offsets[id(parameter)])
            made[id(parameter)] = nn.Parameter(values.view(parameter.shape), requires_grad=parameter.requires_grad)
        module._parameters[name] = made[id(parameter)]
