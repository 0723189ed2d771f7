# Rotary position embedding of queries and keys: sixteen operators, four of them copies, become one pass over both.
import torch
import triton


def pattern(cos, sin, query, key, half):
    cos_heads = cos.unsqueeze(1)
    sin_heads = sin.unsqueeze(1)
    query_direct = query * cos_heads
    query_left = query[Ellipsis, slice(None, half, None)]
    query_right = query[Ellipsis, slice(half, None, None)]
    query_minus = -query_right
    query_turned = torch.cat((query_minus, query_left), dim=-1)
    query_crossed = query_turned * sin_heads
    query_out = query_direct + query_crossed
    key_direct = key * cos_heads
    key_left = key[Ellipsis, slice(None, half, None)]
    key_right = key[Ellipsis, slice(half, None, None)]
    key_minus = -key_right
    key_turned = torch.cat((key_minus, key_left), dim=-1)
    key_crossed = key_turned * sin_heads
    key_out = key_direct + key_crossed
    return key_out, query_out


def replacement_args(cos, sin, query, key, half):
    return (cos, sin, query, key, half)


def rotary(cos, sin, query, key, half):
    if len(query.shape) != 4 or len(key.shape) != 4 or len(cos.shape) != 3:
        return NotImplemented
    batch, heads, length, size = query.shape
    if key.shape != (batch, key.shape[1], length, size) or size != 2 * half:
        return NotImplemented
    if cos.shape != sin.shape or (cos.shape != (1, length, size) and cos.shape != (batch, length, size)):
        return NotImplemented
    for tensor in (cos, sin, query, key):
        if not tensor.is_contiguous() or tensor.dtype != query.dtype:
            return NotImplemented
    query_out = torch.empty_like(query)
    key_out = torch.empty_like(key)
    n = query.numel() + key.numel()
    angle_step = 0 if cos.shape[0] == 1 else length  # rows of cos from one batch entry to the next
    # Queries and keys are one launch: a launch less to wait for, and twice the rows to share out.
    if query.is_cuda:
        vector = 4 if half % 4 == 0 else 1  # elements of each half of a row for a thread
        rotary_kernel[(triton.cdiv(n // (2 * vector), 128),), 128](
            cos, sin, query, key, query_out, key_out, batch, angle_step,
            T=query.dtype, HALF=half, V=vector, QUERY_HEADS=heads, KEY_HEADS=key.shape[1], LENGTH=length,
        )
    else:
        tasks = min(16, max(1, n // 8192))
        rotary_kernel[(tasks,)](
            cos, sin, query, key, query_out, key_out, batch, heads, key.shape[1], length, angle_step,
            T=query.dtype, HALF=half,
        )
    return key_out, query_out


def replacement_func():
    return rotary
