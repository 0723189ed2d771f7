# model_conditional_expression.py:7:15: error: expected the end of the statement, found 'if'
# hint: a graph is straight-line code: assignments, calls, and one return
import torch

class GraphModule(torch.nn.Module):
    def forward(self, a, b):
        c = a if b else a
        return (c,)
