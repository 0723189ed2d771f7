# model_integer_too_large.py:6:17: error: integer '9223372036854775808' (19 digits) is out of range, expected -2**63 to 2**63 - 1
import torch

class GraphModule(torch.nn.Module):
    def forward(self, a, b):
        c = a * 9223372036854775808
        return (c,)
