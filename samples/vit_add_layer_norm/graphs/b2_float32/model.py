import torch


class GraphModule(torch.nn.Module):
    def forward(self, w_0, w_1, in_0, in_1):
        tmp_0 = torch.nn.functional.dropout(in_1, 0.0, False, False)
        in_1 = None
        tmp_1 = in_0 + tmp_0
        in_0 = tmp_0 = None
        tmp_2 = torch.nn.functional.layer_norm(tmp_1, (192,), w_1, w_0, 1e-06)
        w_1 = w_0 = None
        return (tmp_1, tmp_2)
