# model_code_after_class.py:9:1: error: expected the end of the file, found 'model'
# hint: a graph file holds imports and one 'class GraphModule(torch.nn.Module)' with 'forward'
import torch

class GraphModule(torch.nn.Module):
    def forward(self, a, b):
        return (a,)

model = GraphModule()
