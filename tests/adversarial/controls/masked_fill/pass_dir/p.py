import torch


def pattern(x, mask):
    return x.masked_fill(mask, float("-inf"))


def replacement_args(x, mask):
    return (x, mask,)


def plan(x, mask):
    out = torch.empty_like(x)
    k[(2,)](x, mask, out, x.numel())
    return out


def replacement_func():
    return plan
