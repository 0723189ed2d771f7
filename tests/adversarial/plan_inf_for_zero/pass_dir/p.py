import torch


def pattern(x):
    return x.div(0.0)


def replacement_args(x):
    return (x,)


def plan(x):
    return torch.zeros_like(x)


def replacement_func():
    return plan
