# GPT-2 spells gelu out as eight operators, each a pass over memory. Here they are one.
import torch
import triton


def pattern(x, half, exponent, cubic, slope, one):
    # Constants that the kernel takes as they come are parameters. A parameter that stands for a constant goes last:
    # `0.5 * x` in a graph is read as `x * 0.5`.
    halved = x * half
    cube = torch.pow(x, exponent)
    scaled = cube * cubic
    inner = x + scaled
    steep = inner * slope
    bent = torch.tanh(steep)
    shifted = bent + one
    return halved * shifted


def replacement_args(x, half, exponent, cubic, slope, one):
    return (x, half, exponent, cubic, slope, one)


def gelu_chain(x, half, exponent, cubic, slope, one):
    if exponent != 3 or one != 1 or not x.is_contiguous():
        return NotImplemented
    out = torch.empty_like(x)
    n = x.numel()
    if x.is_cuda:
        # A thread per element while all of them run at once: tanh takes longer than the memory does.
        vector = 4 if n % 4 == 0 and n > 65536 else 1
        gelu_chain_kernel[(triton.cdiv(n // vector, 128),), 128](x, out, n, half, cubic, slope, T=x.dtype, V=vector)
    else:
        tasks = min(16, max(1, n // 8192))
        gelu_chain_kernel[(tasks,)](x, out, n, half, cubic, slope, T=x.dtype)
    return out


def replacement_func():
    return gelu_chain
