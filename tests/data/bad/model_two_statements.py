# model_two_statements.py:6:19: error: expected the end of the statement, found 'd'
import torch

class GraphModule(torch.nn.Module):
    def forward(self, a, b):
        c = a + b d = a
        return (c,)
