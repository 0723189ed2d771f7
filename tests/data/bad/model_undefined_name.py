# model_undefined_name.py:7:19: error: name 'bb' is not defined
# hint: did you mean 'b'?
import torch

class GraphModule(torch.nn.Module):
    def forward(self, a, b):
        add = a + bb
        return (add,)
