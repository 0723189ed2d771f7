# model_boolean_operator.py:7:15: error: expected the end of the statement, found 'and'
# hint: a graph is straight-line code: assignments, calls, and one return
import torch

class GraphModule(torch.nn.Module):
    def forward(self, a, b):
        c = a and b
        return (c,)
