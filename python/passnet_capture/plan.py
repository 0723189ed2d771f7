"""What a source of models says about one of them: the model built, and at which shapes to capture it."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from torch import nn

MOST_TAG_LETTERS = 100


@dataclass
class Shape:
    """One call of a model. Arguments are made anew when asked for, with PyTorch's generator."""

    tag: str  # a directory's name: b1_r224
    batch: int
    model: nn.Module
    arguments: Callable[[], dict[str, Any]]

    def __post_init__(self):
        self.tag = re.sub(r"[^A-Za-z0-9._-]", "_", str(self.tag))[:MOST_TAG_LETTERS]
        if self.tag.strip(".") == "":
            self.tag = self.tag.replace(".", "_") or "_"


@dataclass
class Plan:
    """slots: for each wanted shape the ones to try, best first; the first that is captured stands for the slot."""

    slots: list[list[Shape]]
    heuristic_tag: str  # as upstream: computer_vision, nlp, audio, multimodal, other
    licence: str | None = None
    reductions: dict[str, Any] = field(default_factory=dict)  # configuration keys and the values put in place of the default

    def models(self) -> list[nn.Module]:
        return list({id(shape.model): shape.model for slot in self.slots for shape in slot}.values())
