import torch


class GraphModule(torch.nn.Module):
    def forward(self, x, mask):
        tmp_0 = x.masked_fill(mask, float("-inf"))
        return (tmp_0,)
