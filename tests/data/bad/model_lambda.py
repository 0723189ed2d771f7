# model_lambda.py:7:24: error: 'lambda' is not part of the graph language
# hint: a graph is straight-line code: calls, operators, indexing, and one return
import torch

class GraphModule(torch.nn.Module):
    def forward(self, a, b):
        c = torch.vmap(lambda x: x)(a)
        return (c,)
