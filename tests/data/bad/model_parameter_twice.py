# model_parameter_twice.py:5:26: error: parameter 'a' is given twice
import torch

class GraphModule(torch.nn.Module):
    def forward(self, a, a):
        return (a,)
