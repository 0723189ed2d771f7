import torch


def pattern(x):
    return x.repeat(4, 1)


def replacement_args(x):
    return (x,)


def plan(x):
    out = torch.empty((x.shape[0] * 4, x.shape[1]), dtype=x.dtype)
    k[(2,)](x, out, x.numel())
    return out


def replacement_func():
    return plan
