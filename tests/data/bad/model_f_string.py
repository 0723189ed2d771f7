# model_f_string.py:6:26: error: strings with prefix 'f' are not part of the graph language
import torch

class GraphModule(torch.nn.Module):
    def forward(self, a, b):
        c = torch.einsum(f"{a}", b)
        return (c,)
