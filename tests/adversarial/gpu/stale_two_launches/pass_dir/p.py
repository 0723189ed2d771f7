import torch
import triton


def pattern(x):
    return x.relu()


def replacement_args(x):
    return (x,)


def plan(x):
    out = torch.empty_like(x)
    blocks = triton.cdiv(x.numel(), 256)
    k[(blocks,), 256](x, out, x.numel())
    k[(blocks,), 256](out, out, x.numel())
    return out


def replacement_func():
    return plan
