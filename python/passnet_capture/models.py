"""The architectures the samples are cut from: random weights, no downloads.

Each function returns a model in eval mode; each `*_inputs` function the keyword arguments of one call. Libraries are
imported where they are used, so that one missing library costs only its own samples.
"""

from importlib.metadata import version

import torch
from torch import nn


def library_version(library: str) -> str:
    return version(library)


def timm_model(name: str, **options) -> nn.Module:
    import timm

    return timm.create_model(name, pretrained=False, **options)


def torchvision_model(name: str, **options) -> nn.Module:
    import torchvision

    return getattr(torchvision.models, name)(weights=None, **options)


def transformers_model(config: str, architecture: str, **options) -> nn.Module:
    import transformers

    return getattr(transformers, architecture)(getattr(transformers, config)(**options))


class SentenceEncoder(nn.Module):
    """An encoder with masked mean pooling and normalisation, as the cards of sentence-transformers models give it."""

    def __init__(self, encoder: nn.Module):
        super().__init__()
        self.encoder = encoder

    def forward(self, input_ids, attention_mask):
        token_embeddings = self.encoder(input_ids=input_ids, attention_mask=attention_mask)[0]
        mask = attention_mask.unsqueeze(-1).expand(token_embeddings.size()).float()
        pooled = torch.sum(token_embeddings * mask, 1) / torch.clamp(mask.sum(1), min=1e-9)
        return torch.nn.functional.normalize(pooled, p=2, dim=1)


def sentence_model(**options) -> nn.Module:
    return SentenceEncoder(transformers_model("BertConfig", "BertModel", **options))


def image(batch: int, size: int, argument: str = "x") -> dict[str, torch.Tensor]:
    return {argument: torch.randn(batch, 3, size, size)}


def tokens(batch: int, length: int) -> dict[str, torch.Tensor]:
    return {"input_ids": torch.randint(0, 1000, (batch, length))}


def token_at(position: int) -> dict[str, torch.Tensor]:
    """One new token of a longer text; at position 0 a rotation would be none."""
    return {**tokens(1, 1), "position_ids": torch.tensor([[position]])}


def padded_tokens(batch: int, length: int) -> dict[str, torch.Tensor]:
    """Sequences of different lengths, padded at the end: row i has (i + 1) / batch of the tokens, at least half."""
    mask = torch.zeros(batch, length, dtype=torch.int64)
    for row in range(batch):
        mask[row, : length // 2 + (row + 1) * length // (2 * batch)] = 1
    if batch == 1:
        mask[0, length * 3 // 4 :] = 0
    return {**tokens(batch, length), "attention_mask": mask}


def vary_parameters(model: nn.Module) -> None:
    """Gives parameters that initialise to all 0 or all 1 (norm weights, biases) trained-like values.

    Otherwise a kernel that ignores them would look right.
    """
    with torch.no_grad():
        for tensor in model.parameters():
            if tensor.numel() > 1 and tensor.std() == 0:
                tensor.add_(0.2 * torch.randn_like(tensor))


def calibrate_batch_norms(model: nn.Module, arguments: dict[str, torch.Tensor]) -> None:
    """Sets the running statistics of batch norms to those of one real batch, as training would have."""
    norms = [module for module in model.modules() if isinstance(module, nn.modules.batchnorm._BatchNorm)]
    momenta = [norm.momentum for norm in norms]
    for norm in norms:
        norm.train().momentum = 1.0
    try:
        with torch.no_grad():
            model(**arguments)
    finally:
        for norm, momentum in zip(norms, momenta):
            norm.eval().momentum = momentum
