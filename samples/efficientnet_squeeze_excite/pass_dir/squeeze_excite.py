# The gate of squeeze-excite: every channel is scaled by the sigmoid of one number.
import torch


def pattern(x, gate):
    return x * torch.sigmoid(gate)


def replacement_args(x, gate):
    return (x, gate)


def squeeze_excite(x, gate):
    # The pattern matches any x * sigmoid(gate); the kernel does N x C x H x W with an N x C x 1 x 1 gate.
    if len(x.shape) != 4 or gate.shape != (x.shape[0], x.shape[1], 1, 1) or x.dtype != gate.dtype:
        return NotImplemented
    if not (x.is_contiguous() and gate.is_contiguous()):
        return NotImplemented
    out = torch.empty_like(x)
    planes = gate.numel()
    tasks = min(16, planes, max(1, x.numel() // 8192))
    squeeze_excite_kernel[(tasks,)](x, gate, out, planes, T=x.dtype, N=x.shape[2] * x.shape[3])
    return out


def replacement_func():
    return squeeze_excite
