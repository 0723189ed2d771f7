import torch


class GraphModule(torch.nn.Module):
    def forward(self, in_0, in_1):
        tmp_0 = in_1.unsqueeze(-1)
        in_1 = None
        tmp_1 = tmp_0.expand((4, 64, 384))
        tmp_0 = None
        tmp_2 = tmp_1.float()
        tmp_1 = None
        tmp_3 = in_0 * tmp_2
        in_0 = None
        tmp_4 = torch.sum(tmp_3, 1)
        tmp_3 = None
        tmp_5 = tmp_2.sum(1)
        tmp_2 = None
        tmp_6 = torch.clamp(tmp_5, min = 1e-09)
        tmp_5 = None
        tmp_7 = tmp_4 / tmp_6
        tmp_4 = tmp_6 = None
        tmp_8 = torch.nn.functional.normalize(tmp_7, p = 2, dim = 1)
        tmp_7 = None
        return (tmp_8,)
