import torch


class GraphModule(torch.nn.Module):
    def forward(self, x, y):
        tmp_0 = x + y
        return (tmp_0,)
