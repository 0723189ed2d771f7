import torch


class GraphModule(torch.nn.Module):
    def forward(self, w_0, w_1, in_0, in_1):
        tmp_0 = in_1.view(-1, 7, 7, 384)
        in_1 = None
        tmp_1 = tmp_0.view(-1, 2, 2, 7, 7, 384)
        tmp_0 = None
        tmp_2 = tmp_1.permute(0, 1, 3, 2, 4, 5)
        tmp_1 = None
        tmp_3 = tmp_2.contiguous()
        tmp_2 = None
        tmp_4 = tmp_3.view(-1, 14, 14, 384)
        tmp_3 = None
        tmp_5 = tmp_4[(slice(None, None, None), slice(None, 14, None), slice(None, 14, None), slice(None, None, None))]
        tmp_4 = None
        tmp_6 = tmp_5.contiguous()
        tmp_5 = None
        tmp_7 = torch.roll(tmp_6, shifts = (3, 3), dims = (1, 2))
        tmp_6 = None
        tmp_8 = in_0 + tmp_7
        in_0 = tmp_7 = None
        tmp_9 = tmp_8.reshape(1, -1, 384)
        tmp_8 = None
        tmp_10 = torch.nn.functional.layer_norm(tmp_9, (384,), w_1, w_0, 1e-05)
        w_1 = w_0 = None
        return (tmp_10, tmp_9)
