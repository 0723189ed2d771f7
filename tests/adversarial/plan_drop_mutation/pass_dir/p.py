import torch


def pattern(x, y):
    x += y
    return x.relu()


def replacement_args(x, y):
    return (x, y,)


def plan(x, y):
    out = torch.empty_like(x)
    k[(2,)](x, y, out, x.numel())
    return out


def replacement_func():
    return plan
