import torch


def pattern(x, y):
    return x + y


def replacement_args(x, y):
    return (x, y,)


def plan(x, y):
    if x.stride(1) == 1 or not y.is_contiguous():
        return NotImplemented
    out = torch.empty((x.shape[1], x.shape[0]), dtype=x.dtype)
    k[(2,)](x, y, out, x.shape[0], x.shape[1], x.stride(1))
    return out.transpose(0, 1)


def replacement_func():
    return plan
