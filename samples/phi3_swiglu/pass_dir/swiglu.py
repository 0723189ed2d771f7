# SwiGLU on a joint projection: the first half of each row gates the second. The halves are strided views, which the
# kernel reads where they lie.
import torch


def pattern(x):
    halves = x.chunk(2, dim=-1)
    gate = halves[0]
    up = halves[1]
    return up * torch.nn.functional.silu(gate)


def replacement_args(x):
    return (x,)


def swiglu(x):
    width = x.shape[-1] // 2
    if x.shape[-1] % 2 != 0 or not x.is_contiguous():
        return NotImplemented
    out = torch.empty(x.shape[:-1] + (width,), dtype=x.dtype)
    tasks = min(16, max(1, out.numel() // 8192))
    swiglu_kernel[(tasks,)](x, out, out.numel() // width, width, T=x.dtype)
    return out


def replacement_func():
    return swiglu
