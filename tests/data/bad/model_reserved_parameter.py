# model_reserved_parameter.py:6:29: error: parameter 'device' hides a name that graphs use themselves
# hint: give it another name
import torch

class GraphModule(torch.nn.Module):
    def forward(self, a, b, device):
        return (a,)
