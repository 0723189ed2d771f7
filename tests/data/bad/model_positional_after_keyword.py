# model_positional_after_keyword.py:6:35: error: found a positional argument after a keyword argument
import torch

class GraphModule(torch.nn.Module):
    def forward(self, a, b):
        c = torch.add(a, alpha=2, b)
        return (c,)
