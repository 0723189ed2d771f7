# model_starred_argument.py:7:23: error: starred arguments are not part of the graph language
# hint: write the arguments out
import torch

class GraphModule(torch.nn.Module):
    def forward(self, a, b):
        c = torch.cat(*a)
        return (c,)
