"""Passes written as models write them: files beside the pass, state, copies and casts, calls of PyTorch."""

import unittest

from passnet_case import PASS, PassnetCase

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
        for dtype, passes in (("float64", True), ("bfloat16", False), ("int32", False)):
            self.write_pass(HALF.replace("DTYPE", dtype))
            output = self.only_record()["outputs"][0]
            self.assertEqual(output["passes_from"] <= -10, passes, dtype)
            if dtype == "bfloat16":
                self.assertLess(output["max_rel_diff"], 2**-8)
            if dtype == "int32":
                self.assertLess(output["max_abs_diff"], 1)

    def test_pytorch_in_a_plan_has_a_verdict_of_its_own(self):
        self.write_pass(PASS.replace("return out", "return torch.relu(out)"))
        record = self.only_record()
        self.assertEqual(record["error_kind"], "library-call")
        self.assertIn("add_relu.py:12:18: error: outside the plan language: found 'torch.relu()'", record["error"])
        self.assertIn("library call", self.evaluate().stdout)


if __name__ == "__main__":
    unittest.main()
