# model_statement_after_return.py:8:9: error: expected the end of the function after its return, found 'c'
# hint: a graph is straight-line code: assignments, calls, and one return
import torch

class GraphModule(torch.nn.Module):
    def forward(self, a, b):
        return (a,)
        c = a + b
