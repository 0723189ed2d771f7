# model_keyword_twice.py:6:38: error: keyword 'alpha' is given twice
import torch

class GraphModule(torch.nn.Module):
    def forward(self, a, b):
        c = torch.add(a, b, alpha=2, alpha=3)
        return (c,)
