import torch


class GraphModule(torch.nn.Module):
    def forward(self, x):
        tmp_0 = x.transpose(0, 1)
        tmp_1 = tmp_0.contiguous()
        return (tmp_1,)
