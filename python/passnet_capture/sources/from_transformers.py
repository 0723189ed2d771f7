"""Architectures of transformers with random weights: every class that the tables of its auto classes name.

Configurations are the defaults of their class with fewer layers: widths, heads and activations stay what they are.
"""

from typing import Any

import transformers
from transformers.models.auto import modeling_auto

from ..plan import Plan
from . import Library
from .transformers_inputs import heuristic_tag, make_slots

LAYERS = 2
DEPTHS = ("num_hidden_layers", "num_layers", "n_layer", "n_layers", "encoder_layers", "decoder_layers", "num_encoder_layers",
          "num_decoder_layers", "depth", "num_transformer_layers", "encoder_num_hidden_layers", "decoder_num_hidden_layers")  # fmt: skip
PER_LAYER = "per_layer_config"  # by number of the layer
MOST_STAGES = 8  # a longer list with an entry per layer is no list of stages
EMBEDDING_ELEMENTS = 64 << 20  # a larger table of tokens is cut
VOCABULARY = 8192


class TransformersSource(Library):
    name = "transformers"

    def __init__(self):
        super().__init__()
        transformers.logging.set_verbosity_error()

    def names(self) -> list[str]:
        tables = [name for name in dir(modeling_auto) if name.startswith("MODEL_") and name.endswith("_MAPPING_NAMES")]
        found = set()
        for table in tables:
            for model_type, classes in getattr(modeling_auto, table).items():
                found.update(f"{model_type}/{name}" for name in ([classes] if isinstance(classes, str) else classes) if name)
        return sorted(found)

    def plan(self, name: str, shapes: int) -> Plan:
        model_type, _, class_name = name.partition("/")
        config, reductions = reduced(transformers.CONFIG_MAPPING[model_type]())
        model = getattr(transformers, class_name)(config)
        slots = make_slots(model, shapes)
        return Plan(slots, heuristic_tag(slots), reductions=reductions)


def reduced(config: Any) -> tuple[Any, dict[str, Any]]:
    """The configuration with at most two layers per stack, and each changed key with its values before and after."""
    facts, changes = config.to_dict(), {}
    _reduce(facts, "", changes)
    return type(config).from_dict(facts), {path: {"from": before, "to": after} for path, (before, after) in changes.items()}


def _reduce(facts: dict[str, Any], path: str, changes: dict[str, tuple[Any, Any]]) -> None:
    def change(key: str, value: Any) -> None:
        if facts[key] != value:
            changes[path + key] = (facts[key], value)
            facts[key] = value

    for key, value in list(facts.items()):
        if isinstance(value, dict) and key != PER_LAYER and (key.endswith("_config") or "model_type" in value):
            _reduce(value, f"{path}{key}.", changes)
    stages = any(isinstance(facts.get(key), list) for key in ("depths", "block_sizes", "attn_layers"))
    outputs = [key for key in ("out_features", "out_indices") if facts.get(key)]
    stages = stages or any(len(facts[key]) > 1 for key in outputs)  # a backbone whose inner stages are asked for
    before = {facts[key] for key in DEPTHS if isinstance(facts.get(key), int) and facts[key] > LAYERS and not stages}
    for key in DEPTHS:
        if isinstance(facts.get(key), int) and not isinstance(facts[key], bool) and facts[key] in before:
            change(key, LAYERS)
            for derived in ("stage_names", "out_features", "out_indices"):
                facts.pop(derived, None)  # one per layer: made anew from the number of layers
    for key, value in list(facts.items()):
        if isinstance(value, list) and len(value) in before and ("layer" in key or "types" in key or len(value) > MOST_STAGES):
            change(key, _distinct_first(value)[:LAYERS])
    if before and isinstance(facts.get(PER_LAYER), dict):
        change(PER_LAYER, {layer: value for layer, value in facts[PER_LAYER].items() if int(layer) < LAYERS})
    if isinstance(facts.get("depths"), list):
        change("depths", [min(depth, LAYERS) for depth in facts["depths"]])
    _reduce_vocabulary(facts, change)
    if facts.get("use_cache") is True:
        change("use_cache", False)
    if facts.get("vocab_size") and facts.get("pad_token_id", 0) is None:
        change("pad_token_id", 0)


def _reduce_vocabulary(facts: dict[str, Any], change) -> None:
    size = facts.get("vocab_size")
    width = facts.get("hidden_size") or facts.get("d_model") or facts.get("n_embd") or 0
    special = [value for key, value in facts.items() if ("token_id" in key or "token_index" in key) and isinstance(value, int)]
    if isinstance(size, int) and size > VOCABULARY and size * width > EMBEDDING_ELEMENTS and max(special, default=0) < VOCABULARY:
        change("vocab_size", VOCABULARY)


def _distinct_first(values: list) -> list:
    """One of each kind before the second of any: a stack of two keeps both kinds of its layers."""
    firsts = [value for i, value in enumerate(values) if value not in values[:i]]
    rest = [value for i, value in enumerate(values) if value in values[:i]]
    return firsts + rest
