# model_unclosed_bracket.py:7:9: error: expected ',' or ')', found 'return'
import torch

class GraphModule(torch.nn.Module):
    def forward(self, a, b):
        c = (a + b
        return (c,)
