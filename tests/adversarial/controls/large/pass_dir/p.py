import torch


def pattern(x, y):
    return x + y


def replacement_args(x, y):
    return (x, y,)


def plan(x, y):
    out = torch.empty_like(x)
    k[(4,)](x, y, out, x.numel())
    return out


def replacement_func():
    return plan
