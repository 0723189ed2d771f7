# model_end_of_life_of_unknown.py:7:9: error: name 'c' is set to None but not defined before
import torch

class GraphModule(torch.nn.Module):
    def forward(self, a, b):
        add = a + b
        c = None
        return (add,)
