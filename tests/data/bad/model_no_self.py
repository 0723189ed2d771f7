# model_no_self.py:5:17: error: expected 'self', found 'a'
import torch

class GraphModule(torch.nn.Module):
    def forward(a, b):
        return (a,)
