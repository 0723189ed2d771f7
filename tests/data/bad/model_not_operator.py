# model_not_operator.py:7:13: error: 'not' is not part of the graph language
# hint: a graph is straight-line code: calls, operators, indexing, and one return
import torch

class GraphModule(torch.nn.Module):
    def forward(self, a, b):
        c = not a
        return (c,)
