# model_for_loop.py:7:9: error: 'for' is not part of the graph language
# hint: a graph is straight-line code: calls, operators, indexing, and one return
import torch

class GraphModule(torch.nn.Module):
    def forward(self, a, b):
        for i in range(3):
            a = a + b
        return (a,)
