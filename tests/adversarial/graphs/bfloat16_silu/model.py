import torch


class GraphModule(torch.nn.Module):
    def forward(self, x):
        tmp_0 = torch.nn.functional.silu(x)
        return (tmp_0,)
