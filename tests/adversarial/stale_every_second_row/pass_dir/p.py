import torch


def pattern(x, y, weight, bias):
    total = x + y
    return total, torch.nn.functional.layer_norm(total, (64,), weight, bias, 1e-05)


def replacement_args(x, y, weight, bias):
    return (x, y, weight, bias)


def add_norm(x, y, weight, bias):
    total = torch.empty_like(x)
    normed = torch.empty_like(x)
    add_norm_kernel[(2,)](x, y, weight, bias, total, normed, x.shape[0])
    return total, normed


def replacement_func():
    return add_norm
