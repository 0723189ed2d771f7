# model_assignment_to_attribute.py:6:9: error: cannot assign to this expression, expected a name or name[index]
import torch

class GraphModule(torch.nn.Module):
    def forward(self, a, b):
        a.data = b
        return (a,)
