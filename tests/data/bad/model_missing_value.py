# model_missing_value.py:6:12: error: expected an expression, found the end of the line
import torch

class GraphModule(torch.nn.Module):
    def forward(self, a, b):
        c =
        return (c,)
