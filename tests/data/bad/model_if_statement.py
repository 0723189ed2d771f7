# model_if_statement.py:7:9: error: 'if' is not part of the graph language
# hint: a graph is straight-line code: calls, operators, indexing, and one return
import torch

class GraphModule(torch.nn.Module):
    def forward(self, a, b):
        if a:
            a = b
        return (a,)
