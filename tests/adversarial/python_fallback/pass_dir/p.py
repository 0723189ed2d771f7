import torch


def pattern(x):
    return x.relu()


def replacement_args(x):
    return (x,)


def plan(x):
    return torch.relu(x)


def replacement_func():
    return plan
