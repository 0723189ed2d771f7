import torch


def pattern(x, y, weight, bias):
    total = x + y
    return total, torch.nn.functional.layer_norm(total, (64,), weight, bias, 1e-05)


def replacement_args(x, y, weight, bias):
    return (x, y, weight, bias)


def add_norm(x, y, weight, bias):
    total = torch.empty_like(x)
    normed = torch.empty_like(x)
    moments_of = torch.empty((x.shape[0], 2), dtype=torch.float32)
    add[(2,)](x, y, total, x.numel(), T=x.dtype)
    measure[(2,)](total, moments_of, x.shape[0], N=64)
    norm[(2,)](total, moments_of, weight, bias, normed, x.shape[0], EPS=1e-05)
    return total, normed


def replacement_func():
    return add_norm
