# Residual addition and the RMS norm after it, which PyTorch runs as nine operators.
import torch
import triton


def pattern(residual, x, eps, dtype, weight):
    total = residual + x
    wide = total.to(torch.float32)
    squares = wide.pow(2)
    mean = squares.mean(-1, keepdim=True)
    shifted = mean + eps
    scale = torch.rsqrt(shifted)
    normed = wide * scale
    narrow = normed.to(dtype=dtype)  # by keyword, because `.to(something)` could also mean a device
    return total, weight * narrow


def replacement_args(residual, x, eps, dtype, weight):
    return (residual, x, eps, dtype, weight)


def add_rms_norm(residual, x, eps, dtype, weight):
    width = x.shape[-1]
    if residual.shape != x.shape or weight.shape != (width,) or width > 8192:
        return NotImplemented
    if not (residual.is_contiguous() and x.is_contiguous()):
        return NotImplemented
    if residual.dtype != dtype or x.dtype != dtype or weight.dtype != dtype:
        return NotImplemented
    total = torch.empty_like(x)
    out = torch.empty_like(x)
    rows = x.numel() // width
    if x.is_cuda:
        threads = 32 if width <= 1024 else 512  # for a row: a warp, or a block where it is long
        block = max(threads, 32 if rows <= 1024 else 128)  # small blocks spread few rows over more of the chip
        add_rms_norm_kernel[(triton.cdiv(rows, block // threads),), block](
            residual, x, weight, total, out, rows, eps, T=dtype, N=width, THREADS=threads
        )
    else:
        tasks = min(16, max(1, x.numel() // 8192))
        add_rms_norm_kernel[(tasks,)](residual, x, weight, total, out, rows, eps, T=dtype, N=width)
    return total, out


def replacement_func():
    return add_rms_norm
