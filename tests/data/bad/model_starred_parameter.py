# model_starred_parameter.py:5:23: error: expected the name of a parameter, found '*'
import torch

class GraphModule(torch.nn.Module):
    def forward(self, *args):
        return (a,)
