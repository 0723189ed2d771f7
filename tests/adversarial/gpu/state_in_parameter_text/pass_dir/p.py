import torch
import triton


def pattern(x):
    return x.relu()


def replacement_args(x):
    return (x,)


def plan(x):
    out = torch.empty_like(x)
    k[(triton.cdiv(x.numel(), 256),), 256](x, out, x.numel())
    return out


def replacement_func():
    return plan
