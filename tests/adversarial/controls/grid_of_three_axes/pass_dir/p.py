import torch


def pattern(x):
    return x.relu()


def replacement_args(x):
    return (x,)


def plan(x):
    out = torch.empty_like(x)
    k[(4, 3, 2)](x, out)
    return out


def replacement_func():
    return plan
