# model_await.py:7:13: error: 'await' is not part of the graph language
# hint: a graph is straight-line code: calls, operators, indexing, and one return
import torch

class GraphModule(torch.nn.Module):
    def forward(self, a, b):
        c = await a
        return (c,)
