# model_comprehension.py:7:24: error: comprehensions are not part of the graph language
# hint: a graph is straight-line code: calls, operators, indexing, and one return
import torch

class GraphModule(torch.nn.Module):
    def forward(self, a, b):
        c = torch.cat([x for x in a])
        return (c,)
