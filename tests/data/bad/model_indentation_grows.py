# model_indentation_grows.py:7:13: error: unexpected indentation: found column 13, expected 9
import torch

class GraphModule(torch.nn.Module):
    def forward(self, a, b):
        c = a + b
            d = c + a
        return (d,)
