import torch
import triton


def pattern(x):
    return x.softmax(-1)


def replacement_args(x):
    return (x,)


def plan(x):
    out = torch.empty_like(x)
    k[(x.shape[0],), 256](x, out, x.shape[1])
    return out


def replacement_func():
    return plan
