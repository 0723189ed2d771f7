# model_foreign_module.py:5:7: error: expected 'GraphModule', found 'Net'
# hint: a graph file holds imports and one 'class GraphModule(torch.nn.Module)' with 'forward'
import torch

class Net(torch.nn.Module):
    def forward(self, x):
        return (x,)
