import torch


def pattern(x, mask):
    return torch.where(mask, x, 0.0)


def replacement_args(x, mask):
    return (x, mask,)


def plan(x, mask):
    out = torch.zeros_like(x)
    k[(2,)](x, mask, out, x.numel())
    return out


def replacement_func():
    return plan
