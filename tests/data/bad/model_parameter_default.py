# model_parameter_default.py:5:26: error: parameter 'b' has a default value; parameters of graphs have none
import torch

class GraphModule(torch.nn.Module):
    def forward(self, a, b=1):
        return (a,)
