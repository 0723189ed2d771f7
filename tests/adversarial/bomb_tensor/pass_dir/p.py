import torch


def pattern(x):
    return x.relu()


def replacement_args(x):
    return (x,)


def plan(x):
    out = torch.empty((2 ** 50,), dtype=torch.float32)
    return out


def replacement_func():
    return plan
