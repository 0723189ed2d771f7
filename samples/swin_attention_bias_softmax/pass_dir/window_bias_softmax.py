# Swin's attention weights: relative position bias (looked up in a table), window mask, softmax. On the CPU two launches:
# the bias is gathered once, then every window uses it. On the GPU one: looking it up anew costs less than a launch.
import torch
import triton


def pattern(index, table, rows, columns, scores, windows, heads, mask, p):
    flat = index.view(-1)
    picked = table[flat]
    square = picked.view(rows, columns, -1)
    by_head = square.permute(2, 0, 1)
    bias = by_head.contiguous()
    every_window = bias.unsqueeze(0)
    biased = scores + every_window
    by_image = biased.view(-1, windows, heads, rows, columns)
    mask_heads = mask.unsqueeze(1)
    mask_images = mask_heads.unsqueeze(0)
    masked = by_image + mask_images
    by_window = masked.view(-1, heads, rows, columns)
    weights = torch.nn.functional.softmax(by_window, -1, _stacklevel=5)
    return torch.nn.functional.dropout(weights, p, False, False)


def replacement_args(index, table, rows, columns, scores, windows, heads, mask, p):
    return (index, table, rows, columns, scores, windows, heads, mask)


def window_bias_softmax(index, table, rows, columns, scores, windows, heads, mask):
    if len(scores.shape) != 4 or scores.shape[1:] != (heads, rows, columns) or scores.shape[0] % windows != 0:
        return NotImplemented
    if mask.shape != (windows, rows, columns) or index.numel() != rows * columns or columns > 8192:
        return NotImplemented
    if len(table.shape) != 2 or table.shape[1] != heads or index.dtype != torch.int64:
        return NotImplemented
    for tensor in (index, table, scores, mask):
        if not tensor.is_contiguous():
            return NotImplemented
    if table.dtype != scores.dtype or mask.dtype != scores.dtype:
        return NotImplemented
    out = torch.empty_like(scores)
    every_row = scores.shape[0] * heads * rows
    entries = table.shape[0]
    if scores.is_cuda:
        # For a row: a warp, less where it is short, or a block where it is long.
        threads = min(32, triton.next_power_of_2(columns)) if columns <= 1024 else 512
        block = max(threads, 128)
        bias_softmax_kernel[(triton.cdiv(every_row, block // threads),), block](
            scores, index, table, mask, out, every_row, entries,
            T=scores.dtype, N=columns, THREADS=threads, QUERIES=rows, HEADS=heads, WINDOWS=windows,
        )
    else:
        bias = torch.empty((heads, rows, columns), dtype=scores.dtype)  # scratch: never returned
        gather_bias_kernel[(heads,)](index, table, bias, rows * columns, heads, entries, T=scores.dtype, N=columns)
        tasks = min(16, max(1, scores.numel() // 8192))
        bias_softmax_kernel[(tasks,)](scores, bias, mask, out, every_row, rows, heads, windows,
                                      T=scores.dtype, N=columns)
    return out


def replacement_func():
    return window_bias_softmax
