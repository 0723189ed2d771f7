# model_call_of_value.py:7:22: error: found a call of a value, expected a call of a torch function or of a tensor's method
# hint: modules cannot be called here; use the functions of torch.nn.functional
import torch

class GraphModule(torch.nn.Module):
    def forward(self, a, b):
        c = a.view(2)(b)
        return (c,)
