# model_missing_operand.py:6:16: error: expected an expression, found the end of the line
import torch

class GraphModule(torch.nn.Module):
    def forward(self, a, b):
        c = a +
        return (c,)
