import torch


def pattern(x):
    return x.mean(-1)


def replacement_args(x):
    return (x,)


def plan(x):
    out = torch.empty((x.shape[0],), dtype=x.dtype)
    k[(2,)](x, out, x.shape[0])
    return out


def replacement_func():
    return plan
