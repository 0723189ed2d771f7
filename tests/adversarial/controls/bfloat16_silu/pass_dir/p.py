import torch


def pattern(x):
    return torch.nn.functional.silu(x)


def replacement_args(x):
    return (x,)


def plan(x):
    out = torch.empty_like(x)
    k[(2,)](x, out, x.numel(), T=x.dtype)
    return out


def replacement_func():
    return plan
