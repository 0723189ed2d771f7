# model_unpack_count.py:6:14: error: cannot unpack: found 3 values, expected 2
import torch

class GraphModule(torch.nn.Module):
    def forward(self, a, b):
        c, d = (a, b, a)
        return (c,)
