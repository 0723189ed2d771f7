# model_bad_device.py:6:18: error: expected device('cpu'), device('cuda:0') or device(type='cuda', index=0)
import torch

class GraphModule(torch.nn.Module):
    def forward(self, a, b):
        c = a.to(torch.device("cuda", -1))
        return (c,)
