"""Models of torchvision with random weights: classification, segmentation, detection, video, optical flow."""

import torch
from torch import nn
from torchvision import models

from ..plan import Plan, Shape
from . import Library
from .vision import BATCHES, first_argument, image_slots

FRAMES = 16
FLOW_SIZES = ((128, 128), (128, 256))  # the smallest that RAFT takes is 128; the native 520 x 960 costs minutes
DETECTION_SIZES = ((320, 320), (320, 480))


class TorchvisionSource(Library):
    name = "torchvision"

    def names(self) -> list[str]:
        return models.list_models()

    def left_out(self, name: str) -> str | None:
        if name.startswith("quantized_"):
            return "found a quantised model, expected floating weights: its packed parameters have no records in weight_meta.py"
        return None

    def plan(self, name: str, shapes: int) -> Plan:
        options = {"weights": None}
        module = models.get_model_builder(name).__module__
        if ".segmentation" in module or ".detection" in module:
            options["weights_backbone"] = None
        model = models.get_model(name, **options)
        own = getattr(model, "image_size", None)  # a transformer takes no other
        size = own or _native_size(name)
        if ".detection" in module:
            slots = [[_pictures(model, BATCHES[i], *DETECTION_SIZES[i % 2])] for i in range(shapes)]
        elif ".optical_flow" in module:
            slots = [[_two_pictures(model, BATCHES[i], *FLOW_SIZES[i % 2])] for i in range(shapes)]
        elif ".video" in module:
            slots = [[_video(model, BATCHES[i], size or 112)] for i in range(shapes)]
        else:
            slots = image_slots(model, shapes, 3, size or 224, size or 224, fixed=own is not None)
        return Plan(slots, "computer_vision")


def _native_size(name: str) -> int | None:
    """What the recipe of the trained weights crops to; None where it keeps the size."""
    weights = models.get_model_weights(name)
    for weight in weights:
        crop = getattr(weight.transforms(), "crop_size", None)
        if crop:
            return crop[0]
    return None


def _pictures(model: nn.Module, batch: int, height: int, width: int) -> Shape:
    def arguments():
        return {first_argument(model): [torch.rand(3, height, width) for _ in range(batch)]}

    return Shape(f"b{batch}_r{height}x{width}", batch, model, arguments)


def _two_pictures(model: nn.Module, batch: int, height: int, width: int) -> Shape:
    def arguments():
        return {name: torch.rand(batch, 3, height, width) * 2 - 1 for name in ("image1", "image2")}

    return Shape(f"b{batch}_r{height}x{width}", batch, model, arguments)


def _video(model: nn.Module, batch: int, size: int) -> Shape:
    argument = first_argument(model)
    return Shape(f"b{batch}_f{FRAMES}_r{size}", batch, model, lambda: {argument: torch.randn(batch, 3, FRAMES, size, size)})
