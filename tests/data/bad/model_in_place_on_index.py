# model_in_place_on_index.py:7:9: error: cannot assign to this expression, expected a name or name[index]
# hint: in-place operators work on names: write 't = x[i]; t += y; x[i] = t'
import torch

class GraphModule(torch.nn.Module):
    def forward(self, a, b):
        a[0] += b
        return (a,)
