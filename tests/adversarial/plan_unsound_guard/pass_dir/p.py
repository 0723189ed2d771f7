import torch


def pattern(x, y):
    return x + y


def replacement_args(x, y):
    return (x, y,)


def plan(x, y):
    out = torch.empty_like(y)
    k[(2,)](x, y, out, y.numel())
    return out


def replacement_func():
    return plan
