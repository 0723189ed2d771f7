"""Shapes of models that take pictures."""

import inspect

import torch
from torch import nn

from ..plan import Shape

BATCHES = (1, 2, 4, 8)
STEP = 32  # pixels; most networks halve their input five times


def image_slots(model: nn.Module, count: int, channels: int, height: int, width: int, fixed: bool) -> list[list[Shape]]:
    """The native resolution at batch 1, then larger batches at other resolutions, or at the native one where that fails."""
    slots = []
    for number in range(count):
        batch = BATCHES[min(number, len(BATCHES) - 1)] * 2 ** max(0, number - len(BATCHES) + 1)
        grown = STEP * (number if number < 3 or number % 2 else -number)
        sizes = [(height, width)]
        if number and not fixed and height + grown >= STEP and width + grown >= STEP:
            sizes.insert(0, (height + grown, width + grown))
        slots.append([image_shape(model, batch, channels, *size) for size in sizes])
    return slots


def image_shape(model: nn.Module, batch: int, channels: int, height: int, width: int) -> Shape:
    argument = first_argument(model)
    return Shape(f"b{batch}_{resolution(height, width)}", batch, model, lambda: {argument: torch.randn(batch, channels, height, width)})


def resolution(height: int, width: int) -> str:
    return f"r{height}" if height == width else f"r{height}x{width}"


def first_argument(model: nn.Module) -> str:
    return next(iter(inspect.signature(model.forward).parameters))
