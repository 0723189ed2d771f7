# model_module_as_value.py:6:23: error: found the module 'torch', expected a value
import torch

class GraphModule(torch.nn.Module):
    def forward(self, a, b):
        c = torch.add(torch, b)
        return (c,)
