"""Models of timm with random weights."""

import timm

from ..plan import Plan
from . import Library
from .vision import image_slots


class TimmSource(Library):
    name = "timm"

    def names(self) -> list[str]:
        return timm.list_models()

    def plan(self, name: str, shapes: int) -> Plan:
        model = timm.create_model(name, pretrained=False)
        facts = getattr(model, "pretrained_cfg", None) or getattr(model, "default_cfg", None) or {}
        channels, height, width = facts.get("input_size") or (3, 224, 224)
        slots = image_slots(model, shapes, channels, height, width, bool(facts.get("fixed_input_size")))
        return Plan(slots, "computer_vision", licence=facts.get("license"))
