# model_dictionary.py:6:23: error: dictionaries and sets are not part of the graph language
import torch

class GraphModule(torch.nn.Module):
    def forward(self, a, b):
        c = torch.foo({1: a})
        return (c,)
