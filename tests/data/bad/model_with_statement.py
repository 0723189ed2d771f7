# model_with_statement.py:7:9: error: 'with' is not part of the graph language
# hint: a graph is straight-line code: calls, operators, indexing, and one return
import torch

class GraphModule(torch.nn.Module):
    def forward(self, a, b):
        with torch.no_grad():
            a = a + b
        return (a,)
