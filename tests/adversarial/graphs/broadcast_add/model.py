import torch


class GraphModule(torch.nn.Module):
    def forward(self, x, bias):
        tmp_0 = x + bias
        return (tmp_0,)
