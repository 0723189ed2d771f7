"""Arguments for models of transformers, found by what their forward takes and what their configuration says."""

import inspect
from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from ..plan import Shape

TEXT_SHAPES = ((1, 16), (2, 50), (4, 128), (8, 256))  # batch, tokens
FIRST_TOKEN, LAST_TOKEN = 10, 1000  # ordinary tokens in nearly every vocabulary
SAMPLES = 16000  # of sound: a second
FEATURE_FRAMES = 200
CHOICES = 2  # answers of a text that a model for multiple choice compares


def make_slots(model: nn.Module, count: int) -> list[list[Shape]]:
    """Per shape: what the main argument asks for, then all kinds of input together, then what the library calls dummy inputs."""
    slots = []
    for batch, length in (TEXT_SHAPES * count)[:count]:
        tried: list[list[str]] = []
        for names in _candidates(model):
            if names and names not in tried:
                tried.append(names)
        slot = [_shape(model, batch, length, names) for names in tried]
        if _dummy_inputs(model):
            slot.append(Shape(f"b{batch}_dummy", batch, model, lambda: _dummy_inputs(model)))
        slots.append(slot)
    return slots


def heuristic_tag(slots: list[list[Shape]]) -> str:
    kinds = set(slots[0][0].tag.split("_")) if slots[0] else set()
    letters = {kind[0] for kind in kinds}
    if "s" in letters and letters & {"r", "t"}:
        return "multimodal"
    return "nlp" if "s" in letters else "computer_vision" if "r" in letters else "audio" if "t" in letters else "other"


def _candidates(model: nn.Module) -> list[list[str]]:
    taken = list(inspect.signature(model.forward).parameters)
    known = [name for name in taken if name in MAKERS]
    main = [name for name in known if name == getattr(model, "main_input_name", None)] or known[:1]
    decoder = [name for name in known if name == "decoder_input_ids" and getattr(model.config, "is_encoder_decoder", False)]
    text = ["attention_mask"] if "input_ids" in main and "attention_mask" in known else []
    layout = [name for name in known if name in ("bbox", "visual_feats", "visual_pos")]
    first = sorted({*main, *decoder, *text, *layout}, key=taken.index)
    every = [name for name in known if name in ("input_ids", "attention_mask", "pixel_values", "input_features", "input_values", *first)]
    return [first, every, main]


def _dummy_inputs(model: nn.Module) -> dict[str, Any]:
    try:
        return {name: value for name, value in model.dummy_inputs.items() if isinstance(value, torch.Tensor)}
    except Exception:
        return {}  # a property that some classes have for other frameworks only


def _shape(model: nn.Module, batch: int, length: int, names: list[str]) -> Shape:
    tag = [f"b{batch}"]
    if "input_ids" in names or "decoder_input_ids" in names:
        tag.append(f"s{length}")
    if "pixel_values" in names:
        height, width = _image_size(model.config)
        tag.append(f"r{height}" if height == width else f"r{height}x{width}")
    if "input_values" in names or "input_features" in names:
        name = "input_values" if "input_values" in names else "input_features"
        tag.append(f"t{max(MAKERS[name](model.config, 1, length).shape[1:])}")
    return Shape("_".join(tag), batch, model, lambda: {name: _make(model, name, batch, length) for name in names})


def _make(model: nn.Module, name: str, batch: int, length: int) -> torch.Tensor:
    value = MAKERS[name](model.config, batch, length)
    if type(model).__name__.endswith("ForMultipleChoice") and name in ("input_ids", "attention_mask", "bbox"):
        return value.unsqueeze(1).repeat_interleave(CHOICES, dim=1)
    return value


def _find(config: Any, *keys: str) -> Any:
    """The first of these keys that the configuration or one inside it has."""
    inside = [getattr(config, name) for name in ("vision_config", "audio_config", "text_config", "encoder", "decoder", "backbone_config")
              if getattr(config, name, None) is not None]  # fmt: skip
    for key in keys:
        for part in [config, *inside]:
            value = getattr(part, key, None)
            if value is not None:
                return value
    return None


def _tokens(config: Any, batch: int, length: int) -> torch.Tensor:
    vocabulary = getattr(config.get_text_config(), "vocab_size", None) or _find(config, "vocab_size") or LAST_TOKEN
    ids = torch.randint(min(FIRST_TOKEN, vocabulary - 1), min(LAST_TOKEN, vocabulary), (batch, length))
    end = _find(config, "eos_token_id")
    if isinstance(end, int) and 0 <= end < vocabulary:
        ids[:, -1] = end
    return ids


def _image_size(config: Any) -> tuple[int, int]:
    size = _find(config, "image_size", "img_size", "input_size") or 224
    if isinstance(size, (list, tuple)):
        return int(size[-2 if len(size) > 1 else 0]), int(size[-1])
    return (int(size), int(size)) if isinstance(size, int) else (224, 224)


def _pixels(config: Any, batch: int, length: int) -> torch.Tensor:
    channels = _find(config, "num_channels", "in_channels", "in_chans") or 3
    frames = _find(config, "num_frames", "frames_per_clip")
    return torch.randn(batch, *([frames] if isinstance(frames, int) else []), channels, *_image_size(config))


def _sound(config: Any, batch: int, length: int) -> torch.Tensor:
    bins, frames = _find(config, "num_mel_bins"), getattr(config, "max_length", None)
    return torch.randn(batch, frames, bins) if isinstance(bins, int) and isinstance(frames, int) else torch.randn(batch, SAMPLES)


def _features(config: Any, batch: int, length: int) -> torch.Tensor:
    bins = _find(config, "num_mel_bins", "feature_projection_input_dim", "input_feat_per_channel", "input_dim", "input_size") or 80
    positions = _find(config, "max_source_positions")
    if positions and _find(config, "input_feat_per_channel") is None:
        return torch.randn(batch, bins, 2 * positions)  # bins before frames, as Whisper has them
    return torch.randn(batch, FEATURE_FRAMES, bins)


def _boxes(config: Any, batch: int, length: int) -> torch.Tensor:
    corner = torch.randint(0, 400, (batch, length, 2))
    return torch.cat([corner, corner + torch.randint(1, 400, (batch, length, 2))], dim=-1)


def _regions(config: Any, batch: int, length: int) -> torch.Tensor:
    return torch.randn(batch, 10, _find(config, "visual_feat_dim", "visual_embedding_dim") or 2048)


MAKERS: dict[str, Callable[[Any, int, int], torch.Tensor]] = {
    "input_ids": _tokens,
    "attention_mask": lambda config, batch, length: torch.ones(batch, length, dtype=torch.int64),
    "decoder_input_ids": _tokens,
    "pixel_values": _pixels,
    "input_values": _sound,
    "input_features": _features,
    "bbox": _boxes,
    "visual_feats": _regions,
    "visual_pos": lambda config, batch, length: torch.rand(batch, 10, _find(config, "visual_pos_dim") or 4),
    "past_values": lambda config, batch, length: torch.randn(batch, _find(config, "context_length") or 512,
                                                             _find(config, "num_input_channels") or 1),
}  # fmt: skip
