def pattern(x, y):
    tmp = x + y
    return torch.nn.functional.relu(tmp, inplace=False)


def replacement_args(x, y):
    return (x, y)


def add_relu(x, y):
    n = x.numel()
    if not x.is_contiguous() or x.shape != y.shape:
        return NotImplemented
    out = torch.empty_like(x)
    if x.is_cuda:
        add_relu_kernel[(triton.cdiv(n, 256),), 256](x, y, out, n, T=x.dtype)
    else:
        add_relu_kernel[(triton.cdiv(n, 1024),)](x, y, out, n, T=x.dtype)
    return out


def replacement_func():
    return add_relu
