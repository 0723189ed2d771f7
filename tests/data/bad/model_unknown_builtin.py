# model_unknown_builtin.py:7:13: error: function 'len' is not defined
# hint: graphs call functions of imported modules and methods of tensors
import torch

class GraphModule(torch.nn.Module):
    def forward(self, a, b):
        c = len(a)
        return (c,)
