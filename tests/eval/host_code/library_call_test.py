"""Plans that call PyTorch's operators: refused by default, run with --allow-library, and told in the record.

Plans whose records are read alone are evaluated together, each as a sample of its own, once for all tests of a class.
"""

import json
import unittest

from passnet_case import META, QUICK, PassnetCase, take_one_processor
from recorded_run import settle

take_one_processor()

KERNELS = """\
#include <passnet/kernel.h>

PASSNET_KERNEL scale_kernel(const T* x, T* out, int64_t n, float by) {
  const auto [first, last] = passnet::chunk(n);
  for (int64_t i = first; i < last; ++i) out[i] = x[i] * by;
}

PASSNET_KERNEL relu_kernel(const T* x, T* out, int64_t n) {
  const auto [first, last] = passnet::chunk(n);
  for (int64_t i = first; i < last; ++i) out[i] = x[i] < 0 ? 0 : x[i];
}

PASSNET_KERNEL add_relu_kernel(const T* x, const T* y, T* out, int64_t n) {
  const auto [first, last] = passnet::chunk(n);
  for (int64_t i = first; i < last; ++i) out[i] = x[i] + y[i] < 0 ? 0 : x[i] + y[i];
}

PASSNET_KERNEL relu_in_place_kernel(T* x, int64_t n) {
  const auto [first, last] = passnet::chunk(n);
  for (int64_t i = first; i < last; ++i) x[i] = x[i] < 0 ? 0 : x[i];
}
"""

CONV = ("in_0, in_1", {"in_0": "2, 3, 9, 8", "in_1": "4, 3, 3, 3"},
        ["tmp_0 = in_0 * 0.5", "tmp_1 = torch.conv2d(tmp_0, in_1, None, (1, 1), (1, 1), (1, 1), 1)",
         "tmp_2 = torch.nn.functional.relu(tmp_1, inplace = False)", "return (tmp_2,)"])

CONV_PATTERN = """\
def pattern(x, w):
    return torch.nn.functional.relu(torch.conv2d(x * 0.5, w, None, (1, 1), (1, 1), (1, 1), 1))
"""

MATMUL = ("in_0, in_1, in_2", {"in_0": "5, 6", "in_1": "6, 7", "in_2": "5, 7"},
          ["tmp_0 = in_0 @ in_1", "tmp_1 = tmp_0 + in_2", "tmp_2 = torch.nn.functional.relu(tmp_1, inplace = False)",
           "return (tmp_2,)"])

MATMUL_PATTERN = """\
def pattern(a, b, c):
    return torch.nn.functional.relu(a @ b + c)
"""


def pass_of(pattern, parameters, body):
    """A pass with a plan of these lines."""
    lines = "".join(f"    {line}\n" for line in body)
    return (f"import torch\nimport torch.nn.functional as F\n\n{pattern}\ndef replacement_args({parameters}):\n    return ({parameters})\n\n"
            f"def plan({parameters}):\n{lines}\ndef replacement_func():\n    return plan\n")


def conv_pass(*body):
    return pass_of(CONV_PATTERN, "x, w", body)


def matmul_pass(*body):
    return pass_of(MATMUL_PATTERN, "a, b, c", body)


FUSED_CONV = conv_pass(
    "half = torch.empty_like(x)",
    "scale_kernel[(2,)](x, half, x.numel(), 0.5, T=x.dtype)",
    "y = F.conv2d(half, w, padding=1)",
    "out = torch.empty_like(y)",
    "relu_kernel[(2,)](y, out, y.numel(), T=y.dtype)",
    "return out")


REPLAY = conv_pass("return F.relu(F.conv2d(x * 0.5, w, padding=1))")

# Plans that are right with --allow-library, by name: graph and pass.
RIGHT = {
    "convolution": (CONV, FUSED_CONV),
    "product": (MATMUL, matmul_pass(
        "y = a @ b",
        "out = torch.empty_like(c)",
        "add_relu_kernel[(2,)](y, c, out, out.numel(), T=c.dtype)",
        "return out")),
    "replay": (CONV, REPLAY),
    # A copy of ours is no kernel of the pass.
    "replay_cloned": (CONV, conv_pass("return F.relu(F.conv2d(x * 0.5, w, padding=1)).clone()")),
    "tuples": (MATMUL, matmul_pass(
        "left, right = torch.split(a @ b, [3, 4], dim=1)",
        "c_left, c_right = c.split((3, 4), 1)",
        "y = torch.cat([left, right], dim=-1)",
        "z = torch.cat((c_left, c_right), dim=1)",
        "values, indices = torch.max(y.unsqueeze(0), dim=0)",
        "out = y.new_empty(values.shape)",
        "add_relu_kernel[(2,)](values, z, out, out.numel(), T=c.dtype)",
        "return out")),
    "views": (MATMUL, matmul_pass(
        "padded = torch.zeros(5, 8)",
        "padded[:, :6].copy_(a)",
        "y = torch.matmul(padded[:, :6], b)",
        "flat = y.view(-1)[7:].reshape(4, 7)",
        "tail = torch.relu(flat + c[1:])",
        "out = torch.empty_like(c)",
        "add_relu_kernel[(2,)](y, c, out, out.numel(), T=c.dtype)",
        "rest = torch.empty_like(c)",
        "rest[:1].copy_(out[0:1])",
        "rest[1:].copy_(tail)",
        "return rest")),
    "positions_and_dtypes": (MATMUL, matmul_pass(
        "rows = torch.arange(a.shape[0], device=a.device)",
        "y = (a @ b)[rows][:, [0, 1, 2, 3, 4, 5, 6]]",
        "z = torch.where(y + c > 0, y + c, torch.zeros((), dtype=y.dtype, device=y.device))",
        "w = torch.ops.aten.mul.Tensor(z.float(), torch.full_like(z, 1.0)).to(torch.float32)",
        "mean = w.mean(dim=(0, 1), keepdim=True)",
        "return w + (mean - mean)")),
    "strides": (CONV, conv_pass(
        "half = (x * 0.5).permute(0, 2, 3, 1).contiguous().permute(0, 3, 1, 2)",
        "y = F.conv2d(half, w, padding=1)",
        "out = torch.empty_like(y)",
        "relu_kernel[(2,)](y, out, y.numel(), T=y.dtype)",
        "return out.contiguous()")),
    "written_result": (MATMUL, matmul_pass("y = a @ b + c", "relu_in_place_kernel[(2,)](y, y.numel(), T=y.dtype)", "return y")),
    # A call reads its arguments before a later launch writes them.
    "read_before_written": (MATMUL, matmul_pass(
        "y = a @ b + c", "z = y + 0", "relu_in_place_kernel[(2,)](y, y.numel(), T=y.dtype)",
        "w = z.clamp(max=0) * 0 + y", "return w")),
    # Memory of the plan that goes through two launches with a call between them.
    "memory_of_the_plan": (MATMUL, matmul_pass(
        "y = torch.empty_like(c)", "scale_kernel[(2,)](a @ b + c, y, y.numel(), 1.0, T=y.dtype)",
        "z = y * 0", "relu_in_place_kernel[(2,)](y, y.numel(), T=y.dtype)", "return y + z")),
}

# Plans that are refused with --allow-library too.
NEEDED = {
    "input": matmul_pass("y = a @ b", "relu_in_place_kernel[(2,)](c, c.numel(), T=c.dtype)", "return F.relu(y + c)"),
    # Two results that share memory: a launch may write neither.
    "shared": matmul_pass("y = a @ b + c", "z = torch.unsqueeze(y, 0)", "relu_in_place_kernel[(2,)](y, y.numel(), T=y.dtype)",
                          "scale_kernel[(2,)](z, torch.empty_like(y), y.numel(), 1.0, T=y.dtype)", "return y"),
}
LINES = {
    "return F.conv2d(x, w, padding=7, stride=(1, 1, 1))": "torch.nn.functional.conv2d",
    "return F.conv2d(x)": "torch.nn.functional.conv2d: conv2d needs argument 'weight'",
    "return x[x > 0]": "cannot tell what 'getitem' gives: ",
    "return torch.nonzero(x)": "cannot tell what 'torch.nonzero' gives: ",
    "return torch.relu_(x)": "outside the plan language: 'torch.relu_' overwrites a tensor",
    "return x.mul_(2)": "outside the plan language: 'Tensor.mul_' overwrites a tensor",
    "return F.relu(x, inplace=True)": "outside the plan language: 'torch.nn.functional.relu' overwrites a tensor",
    "return x.sum().item()": "'Tensor.item' gives float, expected a tensor or a tuple of tensors",
    "return x if x > 0 else w": "truth",
    "return torch.frobnicate(x)": "outside the plan language: found 'torch.frobnicate()'",
    "return x.tolist()": "",
}


class PlansCase(PassnetCase):
    timing = QUICK

    def write(self, graph, source):
        """The sample of one graph, and the pass."""
        parameters, shapes, lines = graph
        directory = self.sample / "graphs" / "small"
        directory.mkdir(parents=True, exist_ok=True)
        (self.sample / "graph_list.txt").write_text("small\n")
        (directory / "model.py").write_text(
            f"import torch\n\nclass GraphModule(torch.nn.Module):\n\n    def forward(self, {parameters}):\n"
            + "".join(f"        {line}\n" for line in lines))
        (directory / "weight_meta.py").write_text("\n".join(META.format(name=name, shape=shape) for name, shape in shapes.items()))
        self.write_pass(source, KERNELS, "fused")

    def evaluate_plans(self, plans, *flags):
        """One run of all plans, {name: (graph, pass)}; returns their records by name."""
        samples = []
        for name, (graph, source) in plans.items():
            self.sample = self.root / name
            self.write(graph, source)
            samples.append(self.sample)
        return self.evaluate_samples(samples, *flags)


class RightPlans(PlansCase):
    @classmethod
    def setUpClass(cls):
        cls.right = cls.in_directory_of_class(PlansCase).evaluate_plans(RIGHT, "--allow-library")

    def calls(self, name):
        return [(call["name"], call["line"], call["count"]) for call in self.right[name]["passes"][0]["library_calls"]]

    def test_each_is_right(self):
        # Views of results and of memory of kernels, new tensors, positions and dtypes, and other strides are as in PyTorch.
        # A kernel may write what a call gave and no one needs.
        for name in RIGHT:
            with self.subTest(plan=name):
                record = self.right[name]
                self.assertEqual((record["stage"], record["error"]), ("done", ""))
                self.assertLessEqual(record["outputs"][0]["passes_from"], -5)

    def test_kernels_around_a_convolution(self):
        record = self.right["convolution"]
        self.assertEqual(self.calls("convolution"), [("torch.nn.functional.conv2d", 13, 1)])
        self.assertNotIn("replays", record["passes"][0])
        self.assertNotIn("idle", record["passes"][0])
        self.assertTrue(record["provenance"]["options"]["allow_library"])

    def test_a_product_with_what_follows_fused(self):
        self.assertEqual(self.calls("product"), [("@", 11, 1)])

    def test_a_plan_without_a_kernel_is_told(self):
        told = self.right["replay"]["passes"][0]
        self.assertEqual(self.calls("replay"), [("*", 11, 1), ("torch.nn.functional.conv2d", 11, 1), ("torch.nn.functional.relu", 11, 1)])
        self.assertEqual(told["replays"], 1)
        self.assertEqual(told["idle"], ["the plan launches no kernel of its own: PyTorch computes all of it"])
        self.assertEqual(self.right["replay_cloned"]["passes"][0]["replays"], 1)

    def test_results_that_are_tuples_are_unpacked(self):
        self.assertEqual([name for name, _, _ in self.calls("tuples")],
                         ["@", "torch.split", "Tensor.split", "torch.cat", "torch.cat", "torch.max"])


class RefusedPlans(PlansCase):
    @classmethod
    def setUpClass(cls):
        plans = {f"line_{i}": (CONV, conv_pass(line)) for i, line in enumerate(LINES)}
        plans["adds_in_place"] = (CONV, conv_pass("x += x", "return x"))
        plans |= {name: (MATMUL, source) for name, source in NEEDED.items()}
        cls.refused = cls.in_directory_of_class(PlansCase).evaluate_plans(plans, "--allow-library")

    def test_none_is_evaluated(self):
        for name, record in self.refused.items():
            with self.subTest(plan=name):
                self.assertNotEqual(record["stage"], "done")

    def test_a_kernel_may_not_write_what_is_needed(self):
        for name in NEEDED:
            self.assertIn("is an input that is needed afterwards", self.refused[name]["error"])

    def test_what_a_call_refuses_is_said_with_its_line(self):
        for i, (line, message) in enumerate(LINES.items()):
            with self.subTest(line):
                record = self.refused[f"line_{i}"]
                self.assertEqual(record["error_kind"], "bad-pass", record["error"])
                self.assertIn("fused.py:11:", record["error"])
                self.assertIn(message, record["error"])
        self.assertIn("'+=' overwrites a tensor", self.refused["adds_in_place"]["error"])

    def test_refused_by_default(self):
        plans = {"convolution": (CONV, FUSED_CONV), "product": (MATMUL, matmul_pass("y = a @ b", "return y"))}
        records = self.evaluate_plans(plans)
        for record in records.values():
            self.assertEqual(record["error_kind"], "library-call")
            self.assertNotEqual(record["stage"], "done")
        error = records["convolution"]["error"]
        self.assertIn("fused.py:13:11: error: outside the plan language: found 'torch.nn.functional.conv2d()'", error)
        self.assertIn("--allow-library", error)
        self.assertIn("operator '@' does not take tensor float32[5, 6] and tensor float32[6, 7]", records["product"]["error"])


class LibraryCalls(PlansCase):
    def test_told_beside_the_score_and_in_the_report(self):
        self.write(CONV, REPLAY)
        self.evaluate("--allow-library")
        settle(self.out / "sample")
        done = self.evaluate("--resume", "--allow-library")
        self.assertNotIn("again", done.stderr)
        self.assertIn("1 right with library calls (1 without a kernel of its own)", " ".join(done.stdout.split()))
        self.assertIn("if library calls are refused", done.stdout)
        self.assertIn("library calls: *, torch.nn.functional.conv2d, torch.nn.functional.relu alone, without a kernel of its own, in small", " ".join(done.stdout.split()))
        self.assertIn("Library calls: *, torch.nn.functional.conv2d", (self.out / "report.html").read_text())
        told = json.loads(self.evaluate("--resume", "--allow-library", "--json").stdout)
        self.assertTrue(told["graphs"][0]["replay"])
        self.assertEqual(told["graphs"][0]["library_calls"][1], {"pass": "fused", "name": "torch.nn.functional.conv2d", "line": 11, "count": 1})
        self.assertEqual((told["summary"]["library"]["correct"], told["summary"]["library"]["replayed"]), (1, 1))
        self.assertLess(told["summary"]["library"]["refused"]["score_linear"], 0.2)
        self.assertIn("1 right with library calls", self.passnet("score", self.out).stdout)

    def test_part_of_what_a_record_is_made_of(self):
        self.write(CONV, FUSED_CONV)
        self.evaluate("--allow-library")
        settle(self.out / "sample")
        told = json.loads(self.evaluate("--resume", "--allow-library", "--json").stdout)
        self.assertNotIn("replay", told["graphs"][0])
        self.assertEqual(told["summary"]["library"]["replayed"], 0)
        self.assertIn("--allow-library off, was on", self.evaluate("--resume").stderr)
        self.assertEqual(self.records()[-1]["error_kind"], "library-call")
        again = self.evaluate("--resume", "--allow-library")
        self.assertIn("--allow-library on, was off", again.stderr)
        self.assertEqual(self.records()[-1]["stage"], "done")
        reproduced = self.passnet("reproduce", f"{self.out}#small")
        self.assertIn(reproduced.returncode, (0, 1), reproduced.stderr)
        self.assertNotIn("library call", reproduced.stdout)

    def test_other_commands_take_the_flag(self):
        self.write(CONV, FUSED_CONV)
        for command in (("pass", "check", self.sample), ("pass", "match", self.sample, self.sample / "graphs"),
                        ("run", self.sample / "graphs" / "small", "--pass", self.sample)):
            refused = self.passnet(*command)
            self.assertNotEqual(refused.returncode, 0, refused.stdout)
            self.assertIn("--allow-library", refused.stdout + refused.stderr)
            allowed = self.passnet(*command, "--allow-library")
            self.assertEqual(allowed.returncode, 0, allowed.stdout + allowed.stderr)

    def test_no_later_pass_matches_the_inside_of_a_plan(self):
        self.write(CONV, FUSED_CONV)
        convolution = pass_of("def pattern(x, w):\n    return torch.conv2d(x, w, None, (1, 1), (1, 1), (1, 1), 1)\n", "x, w",
                              ["return F.conv2d(x, w, padding=1)"])
        self.write_pass(convolution, KERNELS, "convolution")
        (self.sample / "pass_dir" / "sorted_output_pass_rule_names.json").write_text(json.dumps(["fused", "convolution"]))
        record = self.only_record("--allow-library")
        self.assertEqual([one["matches"] for one in record["passes"]], [1, 0])


if __name__ == "__main__":
    unittest.main()
