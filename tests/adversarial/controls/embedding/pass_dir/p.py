import torch


def pattern(x, index):
    return torch.nn.functional.embedding(index, x)


def replacement_args(x, index):
    return (x, index,)


def plan(x, index):
    out = torch.empty((index.shape[0], x.shape[1]), dtype=x.dtype)
    k[(2,)](x, index, out, index.shape[0], x.shape[1])
    return out


def replacement_func():
    return plan
