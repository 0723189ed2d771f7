# model_smart_quote.py:6:26: error: expected an expression, found '“'
import torch

class GraphModule(torch.nn.Module):
    def forward(self, a, b):
        c = torch.einsum(“ij”, a)
        return (c,)
