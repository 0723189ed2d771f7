"""The shipped samples, as data: which architecture, which operators of it, which shapes.

Shapes are those of inference on a small machine: one or two images of 224 x 224, one new token or a short prompt,
a few sentences. Of operators that a model repeats, a block of its longest stage is taken.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from . import models
from .models import image, padded_tokens, token_at, tokens

DTYPES = ("float32", "float16", "bfloat16")

LLAMA = dict(  # the shape of SmolLM-135M, with fewer layers
    vocab_size=1000, hidden_size=576, intermediate_size=1536, num_hidden_layers=1, num_attention_heads=9,
    num_key_value_heads=3, attn_implementation="eager", use_cache=False,
)  # fmt: skip
GPT2 = dict(vocab_size=1000, n_layer=1, attn_implementation="eager", use_cache=False)
MINILM = dict(  # the shape of all-MiniLM-L6, with fewer layers
    vocab_size=1000, hidden_size=384, num_hidden_layers=1, num_attention_heads=12, intermediate_size=1536,
)  # fmt: skip


@dataclass(frozen=True)
class SampleSpec:
    """One sample: the same operators of one architecture at several shapes and dtypes."""

    name: str
    library: str  # PyPI name, for provenance
    model_name: str
    make_model: Callable[[], Any]
    shapes: dict[str, Callable[[], dict[str, Any]]]  # short name -> inputs of the model
    ops: str  # op names of consecutive nodes, separated by blanks
    occurrence: int = 1  # which of several such places
    dtypes: tuple[str, ...] = DTYPES


SAMPLES = [
    SampleSpec(
        name="vit_add_layer_norm",
        library="timm",
        model_name="deit_tiny_patch16_224",
        make_model=lambda: models.timm_model("deit_tiny_patch16_224"),
        shapes={"b1": lambda: image(1, 224), "b2": lambda: image(2, 224)},
        ops="dropout add layer_norm",
    ),
    SampleSpec(
        name="resnet_batch_norm_add_relu",
        library="torchvision",
        model_name="resnet18",
        make_model=lambda: models.torchvision_model("resnet18"),
        shapes={"b1": lambda: image(1, 224), "b2": lambda: image(2, 224)},
        ops="batch_norm iadd relu",
        occurrence=6,  # 256 channels of 14 x 14
    ),
    SampleSpec(
        name="llama_attention_softmax",
        library="transformers",
        model_name="LlamaForCausalLM",
        make_model=lambda: models.transformers_model("LlamaConfig", "LlamaForCausalLM", **LLAMA),
        shapes={"b1_s16": lambda: tokens(1, 16), "b2_s50": lambda: tokens(2, 50)},
        ops="mul add softmax Tensor.to dropout",
    ),
    SampleSpec(
        name="llama_add_rms_norm",
        library="transformers",
        model_name="LlamaForCausalLM",
        make_model=lambda: models.transformers_model("LlamaConfig", "LlamaForCausalLM", **LLAMA),
        shapes={"b1_s1": lambda: tokens(1, 1), "b1_s64": lambda: tokens(1, 64)},
        ops="add Tensor.to Tensor.pow Tensor.mean add rsqrt mul Tensor.to mul",
    ),
    SampleSpec(
        name="llama_rotary",
        library="transformers",
        model_name="LlamaForCausalLM",
        make_model=lambda: models.transformers_model("LlamaConfig", "LlamaForCausalLM", **LLAMA),
        shapes={"b1_s1": lambda: token_at(37), "b1_s64": lambda: tokens(1, 64)},
        ops="Tensor.unsqueeze Tensor.unsqueeze" + 2 * " mul getitem getitem neg cat mul add",
    ),
    SampleSpec(
        name="phi3_swiglu",
        library="transformers",
        model_name="Phi3ForCausalLM",
        make_model=lambda: models.transformers_model("Phi3Config", "Phi3ForCausalLM", pad_token_id=0, bos_token_id=1,
                                                     eos_token_id=2, **LLAMA),
        shapes={"b1_s1": lambda: tokens(1, 1), "b1_s16": lambda: tokens(1, 16)},
        ops="Tensor.chunk getitem getitem silu mul",
    ),
    SampleSpec(
        name="gpt2_gelu",
        library="transformers",
        model_name="GPT2LMHeadModel",
        make_model=lambda: models.transformers_model("GPT2Config", "GPT2LMHeadModel", **GPT2),
        shapes={"b1_s1": lambda: tokens(1, 1), "b1_s16": lambda: tokens(1, 16)},
        ops="mul pow mul add mul tanh add mul",
    ),
    SampleSpec(
        name="mobilenetv3_batch_norm_hardswish_pool",
        library="torchvision",
        model_name="mobilenet_v3_small",
        make_model=lambda: models.torchvision_model("mobilenet_v3_small"),
        shapes={"b1": lambda: image(1, 224), "b2": lambda: image(2, 224)},
        ops="batch_norm hardswish adaptive_avg_pool2d",
        occurrence=2,  # 240 channels of 14 x 14
    ),
    SampleSpec(
        name="seresnet_squeeze_excite",
        library="timm",
        model_name="seresnet50",
        make_model=lambda: models.timm_model("seresnet50"),
        shapes={"b1": lambda: image(1, 224), "b2": lambda: image(2, 224)},
        ops="Tensor.sigmoid mul iadd relu",
        occurrence=9,  # 1024 channels of 14 x 14
    ),
    SampleSpec(
        name="swin_window_merge",
        library="timm",
        model_name="swin_tiny_patch4_window7_224",
        make_model=lambda: models.timm_model("swin_tiny_patch4_window7_224"),
        shapes={"b1": lambda: image(1, 224), "b2": lambda: image(2, 224)},
        ops="Tensor.view Tensor.view Tensor.permute Tensor.contiguous Tensor.view getitem Tensor.contiguous roll add "
        "Tensor.reshape layer_norm",
        occurrence=3,  # the third stage, where half of the blocks are: 14 x 14 pixels of 384
    ),
    SampleSpec(
        name="swin_attention_bias_softmax",
        library="timm",
        model_name="swin_tiny_patch4_window7_224",
        make_model=lambda: models.timm_model("swin_tiny_patch4_window7_224"),
        shapes={"b1": lambda: image(1, 224), "b2": lambda: image(2, 224)},
        ops="Tensor.view getitem Tensor.view Tensor.permute Tensor.contiguous Tensor.unsqueeze add Tensor.view "
        "Tensor.unsqueeze Tensor.unsqueeze add Tensor.view softmax dropout",
        occurrence=3,  # the third stage: 4 windows, 12 heads
    ),
    SampleSpec(
        name="minilm_mean_pooling",
        library="transformers",
        model_name="BertModel with mean pooling",
        make_model=lambda: models.sentence_model(**MINILM),
        shapes={"b1_s32": lambda: padded_tokens(1, 32), "b4_s64": lambda: padded_tokens(4, 64)},
        ops="Tensor.unsqueeze Tensor.expand Tensor.float mul sum Tensor.sum clamp truediv normalize",
    ),
]
