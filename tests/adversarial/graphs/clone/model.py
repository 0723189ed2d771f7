import torch


class GraphModule(torch.nn.Module):
    def forward(self, x):
        tmp_0 = x.clone()
        return (tmp_0,)
