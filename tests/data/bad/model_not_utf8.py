# model_not_utf8.py:6:27: error: found byte 0xff, which is not valid UTF-8, expected Python source text
import torch

class GraphModule(torch.nn.Module):
    def forward(self, a, b):
        c = torch.einsum('ÿ', a)
        return (c,)
