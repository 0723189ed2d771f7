# model_wrong_bracket.py:6:19: error: expected ',' or ')', found ']'
import torch

class GraphModule(torch.nn.Module):
    def forward(self, a, b):
        c = (a + b]
        return (c,)
