# model_walrus.py:7:26: error: ':=' is not part of the graph language
# hint: a graph is straight-line code: calls, operators, indexing, and one return
import torch

class GraphModule(torch.nn.Module):
    def forward(self, a, b):
        c = torch.add((d := a), b)
        return (c,)
