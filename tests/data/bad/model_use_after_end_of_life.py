# model_use_after_end_of_life.py:9:21: error: 'a' is used after it was set to None
# hint: a name set to None has ended its life; drop that statement or use the name before it
import torch

class GraphModule(torch.nn.Module):
    def forward(self, a, b):
        add = a + b
        a = None
        mul = add * a
        return (mul,)
