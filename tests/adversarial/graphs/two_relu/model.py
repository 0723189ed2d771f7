import torch


class GraphModule(torch.nn.Module):
    def forward(self, x):
        tmp_0 = x.relu()
        tmp_1 = x.relu()
        return (tmp_0, tmp_1,)
