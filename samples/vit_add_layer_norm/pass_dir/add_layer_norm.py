# Residual addition and the layer norm after it, in one pass over memory: each row is read once, stays in registers
# and the first-level cache while its mean and variance are taken, and both results are written.
import torch


def pattern(residual, x, p, shape, weight, bias, eps):
    # The dropout does nothing outside training. `p`, `shape` and `eps` are parameters: any constant there matches.
    dropped = torch.nn.functional.dropout(x, p, False, False)
    total = residual + dropped
    normed = torch.nn.functional.layer_norm(total, shape, weight, bias, eps)
    return total, normed  # the sum is used later too, so it is a result of its own


def replacement_args(residual, x, p, shape, weight, bias, eps):
    return (residual, x, shape, weight, bias, eps)


def add_layer_norm(residual, x, shape, weight, bias, eps):
    width = x.shape[-1]
    if residual.shape != x.shape or tuple(shape) != (width,) or width > 8192:
        return NotImplemented  # the kernel keeps one row on its stack
    if not (residual.is_contiguous() and x.is_contiguous()):
        return NotImplemented
    if residual.dtype != x.dtype or weight.dtype != x.dtype or bias.dtype != x.dtype:
        return NotImplemented
    total = torch.empty_like(x)
    normed = torch.empty_like(x)
    rows = x.numel() // width
    tasks = min(16, max(1, x.numel() // 8192))
    # T and N are compile-time constants: one small kernel is built per dtype and row width.
    add_layer_norm_kernel[(tasks,)](residual, x, weight, bias, total, normed, rows, eps, T=x.dtype, N=width)
    return total, normed


def replacement_func():
    return add_layer_norm
