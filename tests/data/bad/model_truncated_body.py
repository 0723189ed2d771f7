# model_truncated_body.py:7:1: error: expected 'return' before the end of the function, found the end of the file
import torch

class GraphModule(torch.nn.Module):
    def forward(self, a, b):
        add = a + b
