"""Triton kernels on a GPU, from a pass to its verdict: what is launched is what Triton would launch. Skipped without a GPU."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "eval"))
from gpu_main import main  # noqa: E402
from passnet_case import META, MODEL, PassnetCase  # noqa: E402

HEAD = """\
import torch
import triton
import triton.language as tl

"""
ENDS = """
def pattern(x, y):
    return torch.nn.functional.relu(x + y)

def replacement_args(x, y):
    return (x, y)

def replacement_func():
    return add_relu
"""
KERNEL = """\
@triton.jit
def add_relu_kernel(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < n)
    y = tl.load(y_ptr + at, mask=at < n)
    tl.store(out_ptr + at, tl.maximum(x + y, 0), mask=at < n)
"""
PLAIN = HEAD + KERNEL + """
def add_relu(x, y):
    out = torch.empty_like(x)
    n = x.numel()
    add_relu_kernel[(triton.cdiv(n, 256),)](x, y, out, n, BLOCK=256, num_warps=2)
    return out
""" + ENDS
TUNED = HEAD + """\
@triton.autotune(configs=[triton.Config({"BLOCK": block}, num_warps=warps) for block in (128, 1024) for warps in (1, 4)],
                 key=["n"])
""" + KERNEL + """
def add_relu(x, y):
    out = torch.empty_like(x)
    grid = lambda META: (triton.cdiv(x.numel(), META["BLOCK"]),)
    add_relu_kernel[grid](x, y, out, x.numel())
    return out
""" + ENDS
# Arguments of every kind: a stride that is 1, a number that is 1, None, a flag, a float, and a number of 64 bits.
KINDS = HEAD + """\
@triton.heuristics({"EVEN": lambda args: args["n"] % args["BLOCK"] == 0})
@triton.jit
def add_relu_kernel(x_ptr, bias_ptr, y_ptr, out_ptr, n, stride, one, scale, flag, wide,
                    BLOCK: tl.constexpr, EVEN: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    if EVEN:
        x = tl.load(x_ptr + at * stride)
        y = tl.load(y_ptr + at * one)
    else:
        x = tl.load(x_ptr + at * stride, mask=at < n)
        y = tl.load(y_ptr + at * one, mask=at < n)
    if bias_ptr is not None:
        x += tl.load(bias_ptr)
    sum = (x + y) * scale
    if flag:
        sum = tl.where(wide > 4294967296, sum, 0.0)
    tl.store(out_ptr + at, tl.maximum(sum, 0.0), mask=at < n)

def add_relu(x, y):
    out = torch.empty_like(x)
    n = x.numel()
    add_relu_kernel[(triton.cdiv(n, 512),)](x, None, y, out, n, x.stride(1), 1, 1.0, True, 4294967297, 512)
    return out
""" + ENDS
# What a plan copies before and after: casts, transposed inputs, and a row that does not begin at a multiple of 16 bytes.
COPIES = HEAD + KERNEL + """
def add_relu(x, y):
    x = x.t().contiguous().t().contiguous()
    back = torch.empty_like(y)
    back.copy_(y.to(torch.float64).float())
    out = torch.empty_like(x)
    for row in range(x.shape[0]):
        add_relu_kernel[(1,)](x[row], back[row], out[row], x.shape[1], BLOCK=64)
    return out
""" + ENDS
IN_PLACE = PLAIN.replace("    out = torch.empty_like(x)\n", "").replace("(x, y, out, n,", "(x, y, x, n,").replace("return out", "return x")
CLUSTER = PLAIN.replace("num_warps=2", "num_warps=4, num_ctas=2")
OUTSIDE = PLAIN.replace("x_ptr + at, mask=at < n", "x_ptr + 1099511627776 + at")
WRONG = PLAIN.replace("x + y, 0", "x - y, 0")
# The sine brings a table; the second kernel counts in it.
SINE = PLAIN.replace("tl.maximum(x + y, 0)", "tl.maximum(x + y, 0) + 0 * tl.sin(x)")
COUNTS = SINE.replace("    tl.store(", """\
    tl.inline_asm_elementwise("atom.global.add.u32 $0, [__cudart_i2opi_f], 1;", "=r,r", [at], dtype=tl.int32,
                              is_pure=False, pack=1)
    tl.store(""")

MATMUL_MODEL = """\
import torch

class GraphModule(torch.nn.Module):

    def forward(self, in_0, in_1):
        tmp_0 = in_0 @ in_1
        return (tmp_0,)
"""
# 128x128x64 tiles of float32 in four stages take more shared memory than a launch gets without asking.
MATMUL = HEAD + """\
@triton.jit
def matmul_kernel(a_ptr, b_ptr, out_ptr, m, n, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    rows = tl.program_id(0) * M + tl.arange(0, M)
    columns = tl.program_id(1) * N + tl.arange(0, N)
    depth = tl.arange(0, K)
    sum = tl.zeros((M, N), dtype=tl.float32)
    for start in range(0, k, K):
        a = tl.load(a_ptr + rows[:, None] * k + (start + depth)[None, :])
        b = tl.load(b_ptr + (start + depth)[:, None] * n + columns[None, :])
        sum += tl.dot(a, b, input_precision="ieee")
    tl.store(out_ptr + rows[:, None] * n + columns[None, :], sum)

def matmul(a, b):
    m, k = a.shape
    n = b.shape[1]
    out = torch.empty((m, n), dtype=a.dtype, device=a.device)
    matmul_kernel[(triton.cdiv(m, 64), triton.cdiv(n, 64))](a, b, out, m, n, k, 64, 64, 64, num_stages=4)
    return out

def pattern(a, b):
    return a @ b

def replacement_args(a, b):
    return (a, b)

def replacement_func():
    return matmul
"""


class Triton(PassnetCase):
    def evaluate(self, *flags, **options):
        return super().evaluate("--device", "cuda", *flags, **options)

    def assert_right(self, record):
        self.assertEqual((record["stage"], record["error"]), ("done", ""))
        self.assertLessEqual(record["outputs"][0]["passes_from"], -6)

    def test_launches_and_replays_a_kernel(self):
        for mode in ("auto", "off"):
            self.write_pass(PLAIN)
            self.assert_right(self.only_record("--cuda-graph", mode))

    def test_keeps_the_fastest_configuration(self):
        self.write_pass(TUNED)
        record = self.only_record()
        self.assert_right(record)
        tuned, = record["tuned"]
        self.assertEqual((tuned["kernel"], len(tuned["tried_us"])), ("add_relu_kernel", 4))
        self.assertGreater(min(tuned["tried_us"]), 0)
        self.assertIn("BLOCK", tuned["chosen"])

    def test_arguments_of_every_kind(self):
        self.write_pass(KINDS)
        self.assert_right(self.only_record())
        # 2,000 elements leave a rest of 512; 2,048 do not.
        self.write_sample(["even"], shape="32, 64")
        self.write_pass(KINDS)
        self.assert_right(self.only_record())

    def test_copies_and_addresses_that_are_not_aligned(self):
        for shape in ("40, 50", "7, 33"):
            self.write_sample(["small"], shape)
            self.write_pass(COPIES)
            self.assert_right(self.only_record())

    def test_writes_in_place_what_nobody_needs_afterwards(self):
        graph = self.sample / "graphs" / "small" / "model.py"
        head = MODEL[:MODEL.index("        tmp_0")]
        relu = "        tmp_2 = torch.nn.functional.relu(tmp_1, inplace = False)\n        return (tmp_2,)\n"
        graph.write_text(head + "        tmp_0 = in_0 * 2\n        tmp_1 = tmp_0 + in_1\n" + relu)
        self.write_pass(IN_PLACE)
        for mode in ("auto", "off"):
            self.assert_right(self.only_record("--cuda-graph", mode))
        graph.write_text(head + "        in_0 += in_1\n        tmp_1 = in_0\n" + relu.replace("False", "True"))
        self.write_pass(IN_PLACE.replace("    return torch.nn.functional.relu(x + y)",
                                         "    x += y\n    return torch.nn.functional.relu(x, inplace=True)"))
        for mode in ("auto", "off"):
            record = self.only_record("--cuda-graph", mode)
            self.assert_right(record)
            self.assertLessEqual(record["inputs"][0]["passes_from"], -6)
        graph.write_text(MODEL)
        self.write_pass(IN_PLACE)
        self.assertEqual(self.only_record()["error_kind"], "input-changed")

    def test_clusters(self):
        self.write_pass(CLUSTER)
        self.assert_right(self.only_record())

    def test_more_shared_memory_than_a_launch_gets_unasked(self):
        graph = self.sample / "graphs" / "small"
        (graph / "model.py").write_text(MATMUL_MODEL)
        (graph / "weight_meta.py").write_text("\n".join(META.format(name=name, shape="128, 256" if name == "in_0" else "256, 192")
                                                        for name in ("in_0", "in_1")))
        self.write_pass(MATMUL)
        record = self.only_record()
        self.assertEqual((record["stage"], record["error"]), ("done", ""))
        self.assertLessEqual(record["outputs"][0]["passes_from"], -5)  # sums in another order

    def test_a_table_of_the_library_may_be_read_and_not_written(self):
        self.write_pass(SINE)
        self.assert_right(self.only_record())
        self.write_pass(COUNTS)
        record = self.only_record()
        self.assertEqual((record["stage"], record["error_kind"]), ("run", "out-of-bounds"), record["error"])
        self.assertIn("wrote to '__cudart_i2opi_f'", record["error"])

    def test_kernels_that_misbehave_are_named(self):
        self.write_pass(WRONG)
        self.assertIn("wrong", self.evaluate().stdout)
        self.write_pass(OUTSIDE)
        self.assertEqual(self.only_record()["error_kind"], "out-of-bounds")
        self.write_pass(PLAIN)
        self.assert_right(self.only_record())


if __name__ == "__main__":
    main()
