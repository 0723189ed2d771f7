import torch


def pattern(x):
    a, b = x.chunk(2, dim=-1)
    return torch.nn.functional.silu(a) * b


def replacement_args(x):
    return (x,)


def plan(x):
    out = torch.empty((x.shape[0], x.shape[1] // 2), dtype=x.dtype)
    k[(2,)](x, out, x.shape[0], out.shape[1])
    return out


def replacement_func():
    return plan
