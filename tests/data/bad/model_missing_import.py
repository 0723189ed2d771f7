# model_missing_import.py:3:19: error: name 'torch' is not defined
# hint: add 'import torch'
class GraphModule(torch.nn.Module):
    def forward(self, x):
        return (x,)
