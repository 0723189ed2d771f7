"""Contents that inputs never have as recorded: what is built in for these alone is wrong, and what is right is ranked."""

import unittest

from passnet_case import PassnetCase, take_one_processor

take_one_processor()

META = """\
class Program_weight_tensor_meta_{name}:
    name = "{name}"
    shape = {shape}
    dtype = "torch.{dtype}"
    device = "cpu"
    mean = {mean}
    std = 1.0
    data = {data}
"""
GRAPH = """\
import torch

class GraphModule(torch.nn.Module):
    def forward(self, {names}):
        {body}
        return (y,)
"""
PASS = """\
import torch

def pattern({names}):
    {body}
    return y

def replacement_args({names}):
    return ({names},)

def plan({names}):
    out = torch.empty({shape}, dtype={like}.dtype)
    k[(1,)]({names}, out, N={like}.shape[-1])
    return out

def replacement_func():
    return plan
"""
KERNEL = """\
#include <passnet/kernel.h>
using namespace passnet;
PASSNET_KERNEL k({parameters}) {{
{body}
}}
"""


def tensor(name, shape, dtype="float32", mean=0.0, data=None):
    return META.format(name=name, shape=shape, dtype=dtype, mean=mean, data=data)


class Contents(PassnetCase):
    def write(self, metas, names, body, shape, like):
        """Writes the sample; returns what writes a kernel for it."""
        directory = self.sample / "graphs" / "graph"
        directory.mkdir(parents=True)
        (directory / "model.py").write_text(GRAPH.format(names=names, body="\n        ".join(body)))
        (directory / "weight_meta.py").write_text("\n\n".join(metas))
        (self.sample / "graph_list.txt").write_text("graph\n")
        source = PASS.format(names=names, body="\n    ".join(body), shape=shape, like=like)
        return lambda parameters, kernel: self.write_pass(source, KERNEL.format(parameters=parameters, body=kernel), name="fused")

    def verdict(self):
        checked = self.passnet("pass", "check", self.sample)
        return checked.stdout + checked.stderr

    def test_the_number_of_ones_of_a_mask(self):
        ones = [1] * 24 + [0] * 8
        write = self.write([tensor("mask", [1, 32], "int64", data=ones), tensor("h", [1, 32, 64])], "mask, h",
                           ["s = mask.sum(-1)", "t = s - 1", "u = h[0, t]", "y = u.tanh()"], "(1, h.shape[2])", "h")
        parameters = "const int64_t* mask, const float* h, float* out"
        store = "  for (int64_t i = 0; i < N; ++i) out[i] = tanh(h[{} * N + i]);"
        write(parameters, store.format("23"))
        self.assertIn("graph: wrong", self.verdict())
        count = "  int64_t last = -1;\n  for (int64_t i = 0; i < 32; ++i) last += mask[i];\n"
        write(parameters, count + store.format("((last + 32) % 32)"))
        self.assertIn("graph: correct", self.verdict())

    def test_what_is_negative_where_the_record_only_makes_it_unlikely(self):
        write = self.write([tensor("x", [64, 64], mean=1.0)], "x", ["t = torch.nn.functional.leaky_relu(x, 0.2, False)", "y = t * 2.0"], "x.shape", "x")
        parameters = "const float* x, float* out"
        write(parameters, "  for (int64_t i = 0; i < 64 * N; ++i) out[i] = 2 * x[i];")
        self.assertIn("graph: wrong", self.verdict())
        write(parameters, "  for (int64_t i = 0; i < 64 * N; ++i) out[i] = 2 * (x[i] > 0 ? x[i] : 0.2f * x[i]);")
        self.assertIn("graph: correct", self.verdict())

    def test_what_overflows_for_numbers_that_float16_has(self):
        write = self.write([tensor("x", [64, 256], "float16")], "x", ["y = torch.nn.functional.softmax(x, dim = -1)"], "x.shape", "x")
        softmax = """\
  for (int64_t r = 0; r < 64; ++r) {{
    float most = {most}, total = 0;
    for (int64_t i = 0; i < N; ++i) most = {larger};
    for (int64_t i = 0; i < N; ++i) total += exp(float(x[r * N + i]) - most);
    for (int64_t i = 0; i < N; ++i) out[r * N + i] = float16(exp(float(x[r * N + i]) - most) / total);
  }}"""
        parameters = "const float16* x, float16* out"
        write(parameters, softmax.format(most="0", larger="0"))
        self.assertIn("graph: wrong", self.verdict())
        write(parameters, softmax.format(most="float(x[r * N])", larger="float(x[r * N + i]) <= most ? most : float(x[r * N + i])"))
        self.assertIn("graph: correct", self.verdict())

    def test_a_result_of_one_element_is_ranked(self):
        write = self.write([tensor("a", [64, 64]), tensor("b", [64, 64])], "a, b", ["d = a - b", "e = d * d", "y = e.mean()"], "()", "a")
        write("const float* a, const float* b, float* out",
              "  float total = 0;\n  for (int64_t i = 0; i < 64 * N; ++i) total += (a[i] - b[i]) * (a[i] - b[i]);\n  out[0] = total / (64 * N);")
        record = self.only_record()
        self.assertEqual(record.get("null_models", []), [])


if __name__ == "__main__":
    unittest.main()
