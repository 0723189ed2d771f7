import torch


def pattern(x):
    return x.relu()


def replacement_args(x):
    return (x,)


def plan(x):
    return torch.empty_like(x)


def replacement_func():
    return plan
