# The end of a squeeze-excite residual block: every channel is scaled by the sigmoid of one number, then the shortcut and
# relu. Three operators read and write every element; together they need two reads and one write.
import torch
import triton


def pattern(x, gate, shortcut):
    # Written as the model does, in place: the value overwritten is born and dies inside the pattern.
    scaled = x * torch.sigmoid(gate)
    scaled += shortcut
    return torch.nn.functional.relu(scaled, inplace=True)


def replacement_args(x, gate, shortcut):
    return (x, gate, shortcut)


def squeeze_excite(x, gate, shortcut):
    # The pattern matches any x * sigmoid(gate); the kernel does N x C x H x W with an N x C x 1 x 1 gate.
    if len(x.shape) != 4 or gate.shape != (x.shape[0], x.shape[1], 1, 1) or shortcut.shape != x.shape:
        return NotImplemented
    if x.dtype != gate.dtype or x.dtype != shortcut.dtype:
        return NotImplemented
    if not (x.is_contiguous() and gate.is_contiguous() and shortcut.is_contiguous()):
        return NotImplemented
    out = torch.empty_like(x)
    planes = gate.numel()
    size = x.shape[2] * x.shape[3]
    if x.is_cuda:
        vector = 4 if size % 4 == 0 else 1  # elements of one plane for a thread
        squeeze_excite_kernel[(triton.cdiv(x.numel() // vector, 128),), 128](
            x, gate, shortcut, out, planes, T=x.dtype, N=size, V=vector
        )
    else:
        tasks = min(16, planes, max(1, x.numel() // 8192))
        squeeze_excite_kernel[(tasks,)](x, gate, shortcut, out, planes, T=x.dtype, N=size)
    return out


def replacement_func():
    return squeeze_excite
