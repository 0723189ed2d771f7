import torch


def pattern(x):
    return x.transpose(0, 1).contiguous()


def replacement_args(x):
    return (x,)


def plan(x):
    out = torch.empty((x.shape[1], x.shape[0]), dtype=x.dtype)
    k[(1,)](x, out, x.shape[0], x.shape[1])
    return out


def replacement_func():
    return plan
