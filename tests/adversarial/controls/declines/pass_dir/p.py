import torch


def pattern(x):
    return x.relu()


def replacement_args(x):
    return (x,)


def plan(x):
    if x.dtype != torch.float64:
        return NotImplemented
    out = torch.empty_like(x)
    k[(1,)](x, out, x.numel())
    return out


def replacement_func():
    return plan
