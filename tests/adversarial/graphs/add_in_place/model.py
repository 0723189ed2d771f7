import torch


class GraphModule(torch.nn.Module):
    def forward(self, x, y):
        x += y
        tmp_0 = x.relu()
        return (tmp_0,)
