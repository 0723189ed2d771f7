import torch


class GraphModule(torch.nn.Module):
    def forward(self, x):
        tmp_0 = x.argmax(-1)
        return (tmp_0,)
