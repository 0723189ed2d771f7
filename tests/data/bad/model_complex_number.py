# model_complex_number.py:6:17: error: found the complex number '2j', expected an int or float
import torch

class GraphModule(torch.nn.Module):
    def forward(self, a, b):
        c = a * 2j
        return (c,)
