import torch


def pattern(x):
    return torch.nn.functional.dropout(x, 0.1, False, False) + 1e-3


def replacement_args(x):
    return (x,)


def plan(x):
    out = torch.empty_like(x)
    k[(2,)](x, out, x.numel())
    return out


def replacement_func():
    return plan
