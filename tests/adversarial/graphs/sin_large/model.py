import torch


class GraphModule(torch.nn.Module):
    def forward(self, x):
        tmp_0 = x.sin()
        return (tmp_0,)
