# model_leading_zero.py:6:17: error: found '012', expected a number
import torch

class GraphModule(torch.nn.Module):
    def forward(self, a, b):
        c = a * 012
        return (c,)
