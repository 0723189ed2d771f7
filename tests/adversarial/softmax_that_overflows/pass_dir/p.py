import torch


def pattern(x):
    return x.softmax(-1)


def replacement_args(x):
    return (x,)


def plan(x):
    out = torch.empty_like(x)
    k[(2,)](x, out, x.shape[0])
    return out


def replacement_func():
    return plan
