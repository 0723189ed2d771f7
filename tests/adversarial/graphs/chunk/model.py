import torch


class GraphModule(torch.nn.Module):
    def forward(self, x):
        tmp_0 = x.chunk(2, dim = -1)
        tmp_1 = tmp_0[0]
        tmp_2 = tmp_0[1]
        tmp_3 = torch.nn.functional.silu(tmp_1)
        tmp_4 = tmp_3 * tmp_2
        return (tmp_4,)
