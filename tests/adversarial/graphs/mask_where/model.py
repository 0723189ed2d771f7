import torch


class GraphModule(torch.nn.Module):
    def forward(self, x, mask):
        tmp_0 = torch.where(mask, x, 0.0)
        return (tmp_0,)
