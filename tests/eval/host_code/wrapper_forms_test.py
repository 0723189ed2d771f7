"""Passes written as models write them: files beside the pass, state, copies and casts, calls of PyTorch."""

import unittest

from passnet_case import MODEL, PASS, PassnetCase, kernel, take_one_processor

take_one_processor()

SHARED = """\
import torch

_CACHE = {}

def launch(x, y):
    # Copies of every kind; what the kernel gets are the elements of x and y again.
    x = x.t().contiguous().t().clone().contiguous()
    wide = y.to(torch.float64)
    back = torch.empty_like(y)
    back.copy_(wide[:, :].float())
    key = (x.data_ptr(), x.shape)
    if key in _CACHE:
        return _CACHE[key]
    out = torch.empty_like(x)
    add_relu_kernel[(2,)](x, back, out, x.numel(), T=x.dtype)
    _CACHE[key] = out
    return out

def dispatch(*args):
    route = args[-1]
    table = {"add_relu": launch}
    if route in table:
        return table[route](*args[:-1])
    raise NotImplementedError(f"no route {route!r}")
"""

IMPORTING = """\
import os, sys
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import torch
from add_relu_shared import dispatch

def pattern(x, y):
    return torch.nn.functional.relu(x + y)

def replacement_args(x, y):
    return (x, y, "add_relu")

def replacement_func():
    return dispatch
"""

HALF = """\
import torch

def pattern(x, y):
    return torch.nn.functional.relu(x + y)

def replacement_args(x, y):
    return (x, y)

def plan(x, y):
    total = torch.empty_like(x)
    add_relu_kernel[(2,)](x, y, total, x.numel(), T=x.dtype)
    return total.to(torch.DTYPE).to(torch.float32)

def replacement_func():
    return plan
"""


IN_PLACE = PASS.replace("    out = torch.empty_like(x)\n", "").replace("(x, y, out, x.numel()", "(x, y, x.numel()").replace("return out", "return x")
IN_PLACE_KERNEL = kernel("x[i] = x[i] + y[i] < 0 ? 0 : x[i] + y[i];").replace("const T* x, const T* y, T* out,", "T* x, const T* y,")


class WrapperForms(PassnetCase):
    def test_files_beside_the_pass_and_copies(self):
        self.write_pass(IMPORTING)
        (self.sample / "pass_dir" / "add_relu_shared.py").write_text(SHARED)
        record = self.only_record()
        self.assertEqual((record["stage"], record["error"]), ("done", ""))
        self.assertEqual(record["outputs"][0]["passes_from"], -10)
        self.assertIn("add_relu_shared.py", record["provenance"]["passes"])

    def test_a_change_in_an_imported_file_is_evaluated_again(self):
        self.write_pass(IMPORTING)
        shared = self.sample / "pass_dir" / "add_relu_shared.py"
        shared.write_text(SHARED)
        self.only_record()
        shared.write_text(SHARED.replace("empty_like(x)", "empty(x.shape)"))
        self.assertIn("add_relu_shared.py", self.evaluate("--resume").stderr)

    def test_casts_round_as_pytorch_does(self):
        samples = [self.add_sample(dtype, HALF.replace("DTYPE", dtype)) for dtype in ("float64", "bfloat16", "int32")]
        for dtype, record in self.evaluate_samples(samples).items():
            output = record["outputs"][0]
            self.assertEqual(output["passes_from"] <= -10, dtype == "float64", dtype)
            if dtype == "bfloat16":
                self.assertLess(output["max_rel_diff"], 2**-8)
            if dtype == "int32":
                self.assertLess(output["max_abs_diff"], 1)

    def test_pytorch_in_a_plan_has_a_verdict_of_its_own(self):
        self.write_pass(PASS.replace("return out", "return torch.relu(out)"))
        done = self.evaluate()
        (record,) = self.records()
        self.assertEqual(record["error_kind"], "library-call")
        self.assertIn("add_relu.py:12:18: error: outside the plan language: found 'torch.relu()'", record["error"])
        self.assertIn("library call", done.stdout)

    def write_graph(self, *lines):
        body = "".join(f"        {line}\n" for line in lines)
        head = MODEL[:MODEL.index("        tmp_0")]
        (self.sample / "graphs" / "small" / "model.py").write_text(head + body)

    def assert_right(self, record):
        self.assertEqual((record["stage"], record["error"]), ("done", ""))
        self.assertEqual(record["outputs"][0]["passes_from"], -10)

    def test_values_are_drawn_anew_where_shapes_depend_on_data(self):
        self.write_graph("tmp_3 = in_0 > 0.5", "tmp_4 = in_0[tmp_3]", "tmp_5 = in_1[tmp_3]", "tmp_0 = tmp_4 + tmp_5",
                         "tmp_1 = torch.nn.functional.relu(tmp_0, inplace = False)", "return (tmp_1,)")
        self.write_pass()
        record = self.only_record("--seed", 7)
        self.assert_right(record)
        self.assertIn("nan", record["profiles"])
        self.assertNotIn("fixed_inputs", record)
        self.assertGreater(record["calls_compared"], 0)

    def test_kernels_may_write_values_that_nobody_needs_afterwards(self):
        self.write_graph("tmp_0 = in_0 * 2", "tmp_1 = tmp_0 + in_1", "tmp_2 = torch.nn.functional.relu(tmp_1, inplace = False)",
                         "return (tmp_2,)")
        self.write_pass(IN_PLACE, IN_PLACE_KERNEL)
        self.assert_right(self.only_record())
        self.write_graph("tmp_0 = in_0 * 2", "tmp_3 = tmp_0.view(-1)", "tmp_1 = tmp_0 + in_1",
                         "tmp_2 = torch.nn.functional.relu(tmp_1, inplace = False)", "return (tmp_2, tmp_3)")
        record = self.only_record()
        self.assertIn("is an input that is needed afterwards", record["error"])
        self.write_sample(["small"])
        self.write_pass(IN_PLACE, IN_PLACE_KERNEL)
        self.assertEqual(self.only_record()["error_kind"], "bad-pass")

    def test_an_input_that_the_graph_overwrites_must_hold_the_same(self):
        graph = ("in_0 += in_1", "tmp_0 = in_0", "tmp_1 = torch.nn.functional.relu(tmp_0, inplace = True)", "return (tmp_1,)")
        pattern = "    x += y\n    return torch.nn.functional.relu(x, inplace=True)"
        self.write_graph(*graph)
        self.write_pass(IN_PLACE.replace("    return torch.nn.functional.relu(x + y)", pattern), IN_PLACE_KERNEL)
        record = self.only_record()
        self.assert_right(record)
        self.assertEqual((record["inputs"][0]["name"], record["inputs"][0]["passes_from"]), ("in_0", -10))
        self.write_pass(PASS.replace("    return torch.nn.functional.relu(x + y)", pattern))
        self.assertIn("wrong", self.evaluate().stdout)
        self.write_pass(IN_PLACE.replace("    return torch.nn.functional.relu(x + y)", pattern).replace("return x", "return out")
                        .replace("(x, y, x.numel()", "(x, y, out, x.numel()").replace("    add_relu", "    out = torch.empty_like(x)\n    add_relu"),
                        kernel("T value = x[i] + y[i] < 0 ? 0 : x[i] + y[i]; out[i] = value; x[i] = value + 1;").replace("const T* x", "T* x"))
        done = self.evaluate()
        (record,) = self.records()
        self.assertGreater(record["inputs"][0]["passes_from"], -5)
        self.assertIn("wrong", done.stdout)


if __name__ == "__main__":
    unittest.main()
