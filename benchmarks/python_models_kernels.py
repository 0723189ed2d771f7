"""Kernels of one call of a model: where the device clock of python_models.py goes.

kernels.csv has a row per model, side and kernel: how often a call runs it, and its us by PyTorch's profiler. On a CPU a row is an
operator with its own time; kernels that a compiler made for the CPU are not among them.
"""

import collections
import csv
import re

FIELDS = ("device", "model", "batch", "dtype", "side", "kind", "kernel", "calls", "us")
CALLS = 10
# The first whose pattern is found. Inductor's names begin with "triton_", ours are C identifiers; both hold the fused operators.
KINDS = (
    ("fused by Inductor", r"^triton_"),
    ("passes", r"^(?!sm\d|nvjet|ampere|turing|volta|cutlass|cudnn)[a-z]\w*$"),
    ("layout", r"nchwToNhwc|nhwcToNchw|(?<!conv_)transpose|convertTensor"),
    ("convolution", r"fprop|conv|implicit|winograd|cudnn::cnn"),
    ("product", r"gemm|gemv|nvjet|cutlass|cublas|addmm|\bmm\b|linear|splitK"),
    ("attention", r"flash|fmha|attention"),
    ("norm", r"batch_norm|bn_fw|layer_norm|group_norm|rms_norm"),
    ("copy", r"^Mem(cpy|set)|copy_"),
    ("elements and rows", r"at::native|at_cuda_detail|aten::"),
)


def kind_of(name):
    """The kind of a kernel, by its name; "other": none of KINDS."""
    return next((kind for kind, pattern in KINDS if re.search(pattern, name)), "other")


def kernels_of(torch, call, sets, on_gpu):
    """Rows of one call, the longest first. REQUIRES: `call` is warm."""
    kind = torch.profiler.ProfilerActivity.CUDA if on_gpu else torch.profiler.ProfilerActivity.CPU
    with torch.profiler.profile(activities=[kind]) as profile:
        for i in range(CALLS):
            call(*sets[i % len(sets)])
        if on_gpu:
            torch.cuda.synchronize()
    times = [(one.key, one.count / CALLS, (one.self_device_time_total if on_gpu else one.self_cpu_time_total) / CALLS) for one in profile.key_averages()]
    return [{"kind": kind_of(name), "kernel": name[:200], "calls": round(calls, 1), "us": round(us, 2)}
            for name, calls, us in sorted(times, key=lambda one: -one[2]) if us > 0]  # fmt: skip


def append(path, base, rows):
    new = not path.exists()
    with path.open("a", newline="") as file:
        writer = csv.DictWriter(file, FIELDS)
        if new:
            writer.writeheader()
        writer.writerows({**base, **row} for row in rows)


def table(rows):
    """Lines: per model and side, calls and us of each kind."""
    sums = collections.defaultdict(lambda: collections.defaultdict(lambda: [0.0, 0.0]))
    for row in rows:
        cell = sums[tuple(row[name] for name in FIELDS[:5])][row["kind"]]
        cell[0] += float(row["calls"])
        cell[1] += float(row["us"])
    for case, kinds in sums.items():
        yield f"{' '.join(case)}: {sum(us for _, us in kinds.values()):.0f} us in {sum(calls for calls, _ in kinds.values()):.0f} kernels"
        for kind, (calls, us) in sorted(kinds.items(), key=lambda one: -one[1][1]):
            yield f"    {us:9.1f} us {calls:7.1f}  {kind}"
