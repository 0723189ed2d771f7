import torch


class GraphModule(torch.nn.Module):
    def forward(self, x):
        tmp_0 = x + 0
        tmp_1 = tmp_0.relu()
        return (tmp_1,)
