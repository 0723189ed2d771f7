import torch


class GraphModule(torch.nn.Module):
    def forward(self, x):
        tmp_0 = x * 2
        tmp_1 = tmp_0.view(24, 32)
        return (tmp_0, tmp_1,)
