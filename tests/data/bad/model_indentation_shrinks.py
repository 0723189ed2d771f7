# model_indentation_shrinks.py:7:7: error: unexpected indentation: found column 7, expected 9
import torch

class GraphModule(torch.nn.Module):
    def forward(self, a, b):
        c = a + b
      return (c,)
