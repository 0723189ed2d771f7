"""weight_meta.py of a whole graph: one record per argument, its values in full when few, else their statistics."""

import math
from typing import Any

import torch

# Replay keeps values within these bounds, so statistics are taken of the values as replay can make them: a mask of
# 0 and -3.4e38 is recorded as one of 0 and -100.
REPLAY_BOUND = 100.0
# Tensors with fewer elements are recorded in full.
LITERAL_ELEMENTS = 64
INTEGERS = (torch.int8, torch.int16, torch.int32, torch.int64)
# Those that PassNet reads (src/ir/dtype.cpp).
DTYPES = frozenset((torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.uint8, torch.bool, torch.complex64, torch.complex128, *INTEGERS))
_CHUNK = 1 << 20  # elements that are held in double precision at a time


class Recorder:
    """Makes records and remembers the statistics of tensors that have not changed: shapes share their weights.

    assumed: the parameters have no values; their statistics are those that an initialiser would give.
    """

    def __init__(self, assumed: bool = False):
        self.assumed = assumed
        self._lines: dict[tuple, tuple[torch.Tensor, list[str]]] = {}

    def record(self, name: str, value: Any, original: str | None = None) -> str:
        """original: the argument's name in the graph that its graph was cut out of."""
        original = original or name
        if isinstance(value, (int, torch.SymInt)) and not isinstance(value, bool):
            value = torch.tensor(int(value))  # a size that dynamo made an argument: its real value
        if isinstance(value, torch.nn.Parameter) and self.assumed:
            lines = _assumed_lines(original, value)
        else:
            key = (id(value), value._version)
            if key not in self._lines:
                self._lines[key] = (value, value_lines(value.detach()))  # holding the tensor keeps its id
            lines = self._lines[key][1]
        extra = ["    min_val = 0"] if "running_var" in original and value.is_floating_point() else []
        return "\n".join(_head(name, original, value) + lines + extra) + "\n"


def _head(name: str, original: str, value: torch.Tensor) -> list[str]:
    lines = [f"class Program_weight_tensor_meta_{original}:", f'    name = "{name}"']
    if original != name:
        lines.append(f'    original_name = "{original}"')
    return lines + [f"    shape = {list(value.shape)}", f'    dtype = "{value.dtype}"', f'    device = "{value.device.type}"']


def value_lines(value: torch.Tensor) -> list[str]:
    """mean, std, and data or bounds."""
    if value.dtype not in DTYPES:
        raise TypeError(f"found a tensor of dtype {value.dtype}, which PassNet does not read")
    if value.layout != torch.strided or value.is_quantized:
        raise TypeError(f"found a tensor of layout {value.layout}, expected a strided one")
    lines = ["    mean = None", "    std = None"]
    if value.is_complex():
        return lines + ["    data = None"]
    if value.is_floating_point():
        mean, std = statistics(value)
        lines = [f"    mean = {number(mean)}", f"    std = {number(std)}"]
    if value.numel() < LITERAL_ELEMENTS:
        return lines + [f"    data = [{', '.join(_element(value.dtype, element) for element in value.flatten().tolist())}]"]
    if value.dtype in INTEGERS:
        return lines + [f"    max_val = {value.max().item()}", f"    min_val = {value.min().item()}"]
    return lines + ["    data = None"]


def statistics(value: torch.Tensor) -> tuple[float, float]:
    """Mean and unbiased standard deviation in double precision, within what replay can make; nan for what is not a number."""
    flat = value.reshape(-1)
    count = flat.numel()
    if count == 0:
        return 0.0, 0.0
    chunks = [flat[start : start + _CHUNK] for start in range(0, count, _CHUNK)]
    sums = [_bounded(chunk).sum().item() for chunk in chunks]
    mean = math.fsum(sums) / count if all(map(math.isfinite, sums)) else math.nan
    if count < 2:
        return mean, 0.0
    squares = [(_bounded(chunk) - mean).square_().sum().item() for chunk in chunks]
    return mean, math.sqrt(math.fsum(squares) / (count - 1)) if all(map(math.isfinite, squares)) else math.nan


def number(value: float, digits: int = 9) -> str:
    """As short as it can be with nine significant digits, which give a float32 back."""
    if math.isfinite(value):
        return f"{value:.{digits}g}"
    return f"float('{value}')"


def _bounded(values: torch.Tensor) -> torch.Tensor:
    return values.double().clamp_(-REPLAY_BOUND, REPLAY_BOUND)


def _element(dtype: torch.dtype, element) -> str:
    if isinstance(element, float):
        return number(element, 17 if dtype == torch.float64 else 9)
    return str(element)


def _assumed_lines(name: str, value: torch.Tensor) -> list[str]:
    """A norm's weight is 1, its bias and any other vector 0, a matrix normal with 0.02."""
    if value.dim() >= 2:
        mean, std = 0.0, 0.02
    else:
        mean, std = (1.0 if "weight" in name or "scale" in name or "gamma" in name else 0.0), 0.0
    return [f"    mean = {number(mean)}", f"    std = {number(std)}", "    data = None"]
