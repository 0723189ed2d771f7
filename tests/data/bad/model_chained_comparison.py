# model_chained_comparison.py:7:19: error: chained comparisons are not part of the graph language
# hint: write (a < b) & (b < c)
import torch

class GraphModule(torch.nn.Module):
    def forward(self, a, b):
        c = 1 < a < 2
        return (c,)
