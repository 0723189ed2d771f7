# model_assignment_to_keyword.py:7:9: error: 'class' is not part of the graph language
# hint: a graph is straight-line code: assignments, calls, and one return
import torch

class GraphModule(torch.nn.Module):
    def forward(self, a, b):
        class = a + b
        return (a,)
