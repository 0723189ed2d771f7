# model_expression_without_effect.py:7:9: error: found an expression without effect, expected an assignment or a call
# hint: a graph is straight-line code: assignments, calls, and one return
import torch

class GraphModule(torch.nn.Module):
    def forward(self, a, b):
        a
        return (a,)
