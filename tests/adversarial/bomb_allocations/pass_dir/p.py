import torch


def pattern(x):
    return x.relu()


def replacement_args(x):
    return (x,)


def plan(x):
    out = torch.empty_like(x)
    for i in range(60000):
        large = torch.empty((268435456,), dtype=torch.float32)
    k[(1,)](x, out, x.numel())
    return out


def replacement_func():
    return plan
