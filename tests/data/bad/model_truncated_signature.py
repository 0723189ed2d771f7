# model_truncated_signature.py:5:41: error: expected ',' or ')', found the end of the file
import torch

class GraphModule(torch.nn.Module):
    def forward(self, a: torch.Tensor, b