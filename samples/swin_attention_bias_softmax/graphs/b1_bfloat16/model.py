import torch


class GraphModule(torch.nn.Module):
    def forward(self, in_0, w_0, w_1, w_2):
        tmp_0 = w_1.view(-1)
        w_1 = None
        tmp_1 = w_2[tmp_0]
        w_2 = tmp_0 = None
        tmp_2 = tmp_1.view(49, 49, -1)
        tmp_1 = None
        tmp_3 = tmp_2.permute(2, 0, 1)
        tmp_2 = None
        tmp_4 = tmp_3.contiguous()
        tmp_3 = None
        tmp_5 = tmp_4.unsqueeze(0)
        tmp_4 = None
        tmp_6 = in_0 + tmp_5
        in_0 = tmp_5 = None
        tmp_7 = tmp_6.view(-1, 4, 12, 49, 49)
        tmp_6 = None
        tmp_8 = w_0.unsqueeze(1)
        w_0 = None
        tmp_9 = tmp_8.unsqueeze(0)
        tmp_8 = None
        tmp_10 = tmp_7 + tmp_9
        tmp_7 = tmp_9 = None
        tmp_11 = tmp_10.view(-1, 12, 49, 49)
        tmp_10 = None
        tmp_12 = torch.nn.functional.softmax(tmp_11, -1, _stacklevel = 5)
        tmp_11 = None
        tmp_13 = torch.nn.functional.dropout(tmp_12, 0.0, False, False)
        tmp_12 = None
        return (tmp_13,)
