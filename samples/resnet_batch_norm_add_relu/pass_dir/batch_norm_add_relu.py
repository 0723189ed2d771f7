# The end of a residual block at inference: batch norm (a scale and a shift per channel), the shortcut, relu.
# Three operators read and write every element; together they need two reads and one write.
import torch
import triton


def pattern(x, mean, variance, weight, bias, momentum, eps, shortcut):
    # Written as the model does, in place: the values overwritten are born and die inside the pattern.
    normed = torch.nn.functional.batch_norm(x, mean, variance, weight, bias, False, momentum, eps)
    normed += shortcut
    return torch.nn.functional.relu(normed, inplace=True)


def replacement_args(x, mean, variance, weight, bias, momentum, eps, shortcut):
    return (x, mean, variance, weight, bias, eps, shortcut)


def batch_norm_add_relu(x, mean, variance, weight, bias, eps, shortcut):
    if x.shape != shortcut.shape or not (x.is_contiguous() and shortcut.is_contiguous()):
        return NotImplemented
    for tensor in (mean, variance, weight, bias, shortcut):
        if tensor.dtype != x.dtype:
            return NotImplemented
    out = torch.empty_like(x)
    channels = x.shape[1]
    planes = x.shape[0] * channels
    size = x.numel() // planes
    if x.is_cuda:
        vector = 4 if size % 4 == 0 else 1  # elements of one plane for a thread
        batch_norm_add_relu_kernel[(triton.cdiv(x.numel() // vector, 128),), 128](
            x, mean, variance, weight, bias, shortcut, out, planes, eps,
            T=x.dtype, CHANNELS=channels, SIZE=size, V=vector,
        )
    else:
        # One task takes whole planes, about 8192 elements at least: less is not worth waking a thread.
        tasks = min(16, planes, max(1, x.numel() // 8192))
        batch_norm_add_relu_kernel[(tasks,)](
            x, mean, variance, weight, bias, shortcut, out, planes, channels, size, eps, T=x.dtype
        )
    return out


def replacement_func():
    return batch_norm_add_relu
