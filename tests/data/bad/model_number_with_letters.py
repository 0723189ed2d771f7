# model_number_with_letters.py:6:17: error: found '12abc', expected a number
import torch

class GraphModule(torch.nn.Module):
    def forward(self, a, b):
        c = a * 12abc
        return (c,)
