# model_surrogate_escape.py:6:27: error: found the escape '\ud800', expected a character
import torch

class GraphModule(torch.nn.Module):
    def forward(self, a, b):
        c = torch.einsum("\ud800", a)
        return (c,)
