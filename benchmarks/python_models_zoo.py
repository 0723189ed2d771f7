"""Models of python_models.py, from their configurations, with random weights and inputs of their own."""

import logging

IMAGE = (3, 224, 224)
TOKENS, VOCABULARY = 128, 1000  # a table of embeddings is large, and only read


def _vision(name):
    def build(batch):
        import torch
        import torchvision

        return torchvision.models.get_model(name, weights=None), (torch.randn(batch, *IMAGE),)

    return build


def _timm(name):
    def build(batch):
        import timm
        import torch

        return timm.create_model(name, pretrained=False), (torch.randn(batch, *IMAGE),)

    return build


def _text(model, config, **settings):
    def build(batch):
        import torch
        import transformers

        made = getattr(transformers, model)(getattr(transformers, config)(vocab_size=VOCABULARY, **settings))
        return made, (torch.randint(3, VOCABULARY, (batch, TOKENS)),)

    return build


_LLAMA = {"hidden_size": 512, "intermediate_size": 1376, "num_hidden_layers": 8, "num_attention_heads": 8, "num_key_value_heads": 4, "use_cache": False}
MODELS = {
    "torchvision/resnet18": _vision("resnet18"),
    "torchvision/resnet50": _vision("resnet50"),
    "torchvision/mobilenet_v3_small": _vision("mobilenet_v3_small"),
    "torchvision/efficientnet_b0": _vision("efficientnet_b0"),
    "torchvision/densenet121": _vision("densenet121"),
    "torchvision/vit_b_16": _vision("vit_b_16"),
    "torchvision/swin_t": _vision("swin_t"),
    "torchvision/convnext_tiny": _vision("convnext_tiny"),
    "timm/deit_tiny": _timm("deit_tiny_patch16_224"),
    "timm/mixer_b16": _timm("mixer_b16_224"),
    "timm/gmlp_s16": _timm("gmlp_s16_224"),
    "timm/levit_128s": _timm("levit_128s"),
    "timm/ghostnet_100": _timm("ghostnet_100"),
    "transformers/distilbert": _text("DistilBertModel", "DistilBertConfig"),
    "transformers/bert_base": _text("BertModel", "BertConfig"),
    "transformers/gpt2": _text("GPT2Model", "GPT2Config", use_cache=False, bos_token_id=0, eos_token_id=0),
    "transformers/albert": _text("AlbertModel", "AlbertConfig", hidden_size=768, num_attention_heads=12, intermediate_size=3072),
    "transformers/electra_small": _text("ElectraModel", "ElectraConfig"),
    "transformers/t5_encoder": _text("T5EncoderModel", "T5Config"),
    "transformers/llama_8_layers": _text("LlamaModel", "LlamaConfig", **_LLAMA),
}
_said, _graphs = [], []


def build(name, batch):
    """The model, and its arguments as a tuple of tensors."""
    return MODELS[name](batch)


def listen():
    """Keeps warnings of the backend, and its graphs until forget_graphs()."""
    from passnet import backend

    class Keeps(logging.Handler):
        def emit(self, record):
            _said.append(record.getMessage())

    def remembered(*args, made=backend._graph):
        _graphs.append(made(*args))
        return _graphs[-1]

    logging.getLogger("passnet").addHandler(Keeps())
    backend._graph = remembered


def said():
    return set(_said)


def forget_graphs():
    _graphs.clear()


def modes():
    """How the last calls of the backend's graphs ran, and why one was not recorded: each once."""
    found = {": ".join(filter(None, graph.mode)) for graph in _graphs}
    return sorted(found - {"operators"} or found)  # "operators" is also said of a graph that was never called
