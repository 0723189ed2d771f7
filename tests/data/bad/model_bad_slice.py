# model_bad_slice.py:6:15: error: slice takes 1 to 3 positional arguments, found 4
import torch

class GraphModule(torch.nn.Module):
    def forward(self, a, b):
        c = a[slice(1, 2, 3, 4)]
        return (c,)
