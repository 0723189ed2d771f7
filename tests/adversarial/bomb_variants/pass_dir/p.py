import torch


def pattern(x):
    return x.relu()


def replacement_args(x):
    return (x,)


def plan(x):
    out = torch.empty_like(x)
    for i in range(400):
        k[(0,)](x, out, 0, N=i)
    k[(1,)](x, out, x.numel(), N=1)
    return out


def replacement_func():
    return plan
