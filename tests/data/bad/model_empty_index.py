# model_empty_index.py:6:15: error: expected an expression, found ']'
import torch

class GraphModule(torch.nn.Module):
    def forward(self, a, b):
        c = a[]
        return (c,)
