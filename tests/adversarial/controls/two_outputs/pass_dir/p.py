import torch


def pattern(x):
    return x.relu(), x.relu()


def replacement_args(x):
    return (x,)


def plan(x):
    first = torch.empty_like(x)
    second = torch.empty_like(x)
    k[(2,)](x, first, second, x.numel())
    return first, second


def replacement_func():
    return plan
