import torch


def pattern(x):
    a = x * 2
    return a, a.view(24, 32)


def replacement_args(x):
    return (x,)


def plan(x):
    out = torch.empty_like(x)
    k[(2,)](x, out, x.numel())
    return out, out.view(24, 32)


def replacement_func():
    return plan
