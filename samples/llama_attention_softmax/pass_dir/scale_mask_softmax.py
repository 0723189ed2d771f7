# Attention weights: scale, additive mask, softmax in float, back to the model's dtype. One row stays in the first-level
# cache for all of it.
import torch
import triton


def pattern(scores, scale, mask, dtype, p):
    scaled = scores * scale
    masked = scaled + mask
    weights = torch.nn.functional.softmax(masked, dim=-1, dtype=torch.float32)
    # By keyword, because `.to(something)` could also mean a device.
    narrow = weights.to(dtype=dtype)
    return torch.nn.functional.dropout(narrow, p=p, training=False)


def replacement_args(scores, scale, mask, dtype, p):
    return (scores, scale, mask, dtype)


def scale_mask_softmax(scores, scale, mask, dtype):
    if len(scores.shape) != 4 or len(mask.shape) != 4:
        return NotImplemented
    batch, heads, queries, keys = scores.shape
    if mask.shape != (batch, 1, queries, keys) and mask.shape != (1, 1, queries, keys):
        return NotImplemented
    if not (scores.is_contiguous() and mask.is_contiguous()) or keys > 8192:
        return NotImplemented
    if scores.dtype != dtype or mask.dtype != dtype:
        return NotImplemented
    out = torch.empty_like(scores)
    rows = batch * heads * queries
    mask_step = 0 if mask.shape[0] == 1 else queries * keys  # elements from one batch entry's mask to the next
    if scores.is_cuda:
        # For a row: a warp, less where it is short, or a block where it is long.
        threads = min(32, triton.next_power_of_2(keys)) if keys <= 1024 else 512
        block = max(threads, 128)
        scale_mask_softmax_kernel[(triton.cdiv(rows, block // threads),), block](
            scores, mask, out, rows, mask_step, scale, T=dtype, N=keys, THREADS=threads, HEADS=heads, QUERIES=queries
        )
    else:
        tasks = min(16, max(1, scores.numel() // 8192))
        scale_mask_softmax_kernel[(tasks,)](
            scores, mask, out, rows, heads * queries, queries, mask_step, scale, T=dtype, N=keys
        )
    return out


def replacement_func():
    return scale_mask_softmax
