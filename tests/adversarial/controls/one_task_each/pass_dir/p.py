import torch


def pattern(x):
    return x.relu()


def replacement_args(x):
    return (x,)


def plan(x):
    out = torch.empty_like(x)
    k[(x.shape[0],)](x, out, x.shape[1])
    return out


def replacement_func():
    return plan
