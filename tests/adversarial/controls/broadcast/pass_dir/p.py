import torch


def pattern(x, bias):
    return x + bias


def replacement_args(x, bias):
    return (x, bias,)


def plan(x, bias):
    out = torch.empty_like(x)
    k[(2,)](x, bias, out, x.numel(), bias.numel())
    return out


def replacement_func():
    return plan
