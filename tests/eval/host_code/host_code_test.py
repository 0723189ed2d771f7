"""Passes whose host code runs in Python: --host-code fallback and --host-code python. Skipped where Python has no PyTorch.

A process that imports PyTorch takes seconds, so samples whose records are read alone are evaluated in one run of a class.
"""

import importlib.util
import json
import os
import pathlib
import shutil
import sys
import unittest

from json_schema import problems
from passnet_case import PASS, QUICK, PassnetCase, take_one_processor
from recorded_run import settle, write_chained
from tiers import full_tier

take_one_processor()

if importlib.util.find_spec("torch") is None:
    sys.exit(77)
os.environ["PASSNET_PYTHON"] = sys.executable
SCHEMAS = pathlib.Path(os.environ["PASSNET_SOURCE_DIR"]) / "docs" / "schemas"

# torch.clamp is outside the plan language.
HOST = """\
import torch
{top}

def pattern(x, y):
    return torch.nn.functional.relu(x + y)

def replacement_args(x, y):
    return (x, y)

@torch.fx.wrap
def add_relu(x, y):
    {body}
    return torch.clamp(torch.add(x, y), min=0)

def replacement_func():
    return add_relu
"""

TRITON = '''\
import torch
import triton
import triton.language as tl

@triton.autotune(configs=[triton.Config({"BLOCK": 256}), triton.Config({"BLOCK": 512})], key=["n"])
@triton.jit
def kernel(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    total = tl.load(x + at, mask=inside) + tl.load(y + at, mask=inside)
    tl.store(out + at, tl.where(total > 0, total, 0.0), mask=inside)

@torch.fx.wrap
def launch(x, y, route):
    out = torch.empty_like(x)
    n = x.numel()
    kernel[lambda meta: (triton.cdiv(n, meta["BLOCK"]),)](x, y, out, n)
    return out
'''

TRITON_PASS = """\
import torch
from pass_dir.shared import launch

def pattern(x, y):
    return torch.nn.functional.relu(x + y)

def replacement_args(x, y):
    return (x, y, "add_relu")

def replacement_func():
    return launch
"""

TWO_RESULTS = """\
import torch

def pattern(x, y):
    total = x + y
    return total, torch.nn.functional.relu(total)

def replacement_args(x, y):
    return (x, y)

def add_relu(x, y):
    total = torch.add(x, y)
    return total, torch.relu(total)

def replacement_func():
    return add_relu
"""


def host(body="pass", top=""):
    return HOST.format(body=body, top=top)


class HostCase(PassnetCase):
    timing = QUICK

    def evaluate_list(self, samples, *flags):
        """One run of these samples; returns the completed process."""
        lines = self.root / "samples.txt"
        lines.write_text("".join(f"{sample}\n" for sample in samples))
        done = self.evaluate(*flags, sample=lines)
        self.assertIn(done.returncode, (0, 1), done.stderr)
        return done


class OneRun(HostCase):
    """One sample whose host code ran in Python, as our reader cannot read it."""

    @classmethod
    def setUpClass(cls):
        cls.case = case = cls.in_directory_of_class(HostCase)
        case.write_pass(source=host())
        cls.done = case.evaluate("--host-code", "fallback", "--json")
        case.assertEqual(cls.done.returncode, 0, cls.done.stderr)

    def setUp(self):
        super().setUp()
        self.write_pass(source=host())
        shutil.copytree(self.case.out, self.out)

    def test_what_cannot_be_read_runs_in_python(self):
        (record,) = self.records()
        self.assertEqual((record["stage"], record["error"], record["host_code"]), ("done", "", "python"))
        self.assertIn("torch.clamp", record["why_python"])
        self.assertEqual(record["passes"], [{"pass": "add_relu", "matches": 1, "declined": 0, "diagnosis": ""}])
        self.assertTrue({"shifted", "special"} <= set(record["profiles"]), record["profiles"])
        self.assert_timed(record, 2)
        self.assertGreater(record["calls_compared"], 0)
        self.assertEqual(record["provenance"]["options"]["host_code"], "allow-python")
        self.assertIn("torch", record["provenance"]["versions"]["candidate in Python"])
        self.assertIn("seccomp filter", record["provenance"]["isolation"])
        self.assertEqual(self.only_record()["error_kind"], "library-call")

    def test_it_is_unranked_and_counted_apart(self):
        value = json.loads(self.done.stdout)
        self.assertEqual(problems(value, json.loads((SCHEMAS / "eval.json").read_text())), [])
        graph = value["graphs"][0]
        self.assertEqual((graph["verdict"], graph["unranked"], graph["host_code"]), ("unranked", True, "python"))
        self.assertEqual(value["score"]["total"], 0)
        self.assertIn("1 unranked, as host code of their passes ran in Python", self.passnet("score", self.out).stdout)
        self.assertEqual(self.passnet("verify", self.case.out).returncode, 0)
        # Times that no speed is told apart from.
        side = {"warmup": 1, "trials_us": [1, 1000] * 50}
        write_chained(self.out / "sample", [{**self.records()[0], "reference": side, "candidate": side, "disturbed": False}])
        self.assertIn("agrees", self.passnet("reproduce", self.out).stdout)

    def test_runs_with_and_without_are_told_apart(self):
        settle(self.out / "sample")
        self.assertNotIn("again", self.evaluate("--resume", "--host-code", "fallback").stderr)
        self.assertIn("--host-code read, was fallback", self.evaluate("--resume").stderr)


class InPython(HostCase):
    """Samples of one run with --host-code python."""

    @classmethod
    def setUpClass(cls):
        case = cls.in_directory_of_class(HostCase)
        sources = {"two_results": TWO_RESULTS, "one_of_two": TWO_RESULTS.replace("return total, torch.relu(total)", "return total"),
                   "unmatched": host().replace("x + y)", "x * y)")}
        samples = [case.add_sample(name, source) for name, source in sources.items()]
        if importlib.util.find_spec("triton"):
            samples.append(case.add_sample("triton", TRITON_PASS))
            (samples[-1] / "pass_dir" / "shared.py").write_text(TRITON)
        cls.found = case.evaluate_samples(samples, "--host-code", "python")

    def test_several_results_and_passes_built_by_functions(self):
        self.assertEqual(self.found["two_results"]["stage"], "done")
        self.assertIn("the pattern returns 2 values, the replacement 1", self.found["one_of_two"]["error"])

    def test_no_match_says_what_is_missing(self):
        record = self.found["unmatched"]
        self.assertEqual(record["error_kind"], "no-match")
        self.assertIn("the graph calls no '_operator.mul'", record["error"])

    @unittest.skipIf(importlib.util.find_spec("triton") is None, "1 test: Python has no Triton")
    def test_triton_under_its_interpreter(self):
        record = self.found["triton"]
        self.assertEqual((record["stage"], record["error"]), ("done", ""))
        self.assertNotIn("why_python", record)


class Options(HostCase):
    def test_options_that_do_not_go_together(self):
        for flags, code, text in (
            (("--host-code", "perl"), 2, "expected read, fallback, python"),
            (("--host-code", "fallback", "--sides", "eager"), 2, "--sides eager, expected passes"),
            (("--host-code", "python", "--pass-pattern-limit", 1), 2, "a limit of patterns or functions"),
        ):
            done = self.evaluate(*flags)
            self.assertEqual(done.returncode, code, done.stderr)
            self.assertIn(text, done.stderr)

    def test_a_python_without_torch_is_no_fault_of_the_pass(self):
        self.write_pass(source=host())
        done = self.evaluate("--host-code", "fallback", env={**os.environ, "PASSNET_PYTHON": "/bin/false"})
        self.assertEqual(done.returncode, 4, done.stderr)
        self.assertIn("PASSNET_PYTHON", done.stderr)

    @full_tier
    def test_agreement_of_two_runs(self):
        schema = json.loads((SCHEMAS / "leaderboard_agree.json").read_text())
        samples = {
            # Read and run alike, whatever the graph makes of it.
            "unmatched": PASS.replace("x + y", "x * y"),
            # Found by its meaning here, and not by its letters there.
            "spelled": PASS.replace("torch.nn.functional.relu(x + y)", "torch.relu(x + y)"),
            "unread": host(),
        }
        samples = [self.add_sample(name, source) for name, source in samples.items()]
        runs = [self.root / "read", self.root / "run"]
        for run, flags in zip(runs, ((), ("--host-code", "python"))):
            self.out = run
            self.evaluate_list(samples, *flags)
        done = self.passnet("leaderboard", "agree", *runs, "--json")
        value = json.loads(done.stdout)
        self.assertEqual(problems(value, schema), [], done.stdout)
        self.assertEqual((done.returncode, value["agreed"], value["differing"], value["not_run"]), (1, 1, 1, 1), done.stdout)
        self.assertEqual(value["differences"][0]["graphs"], ["spelled/small"])
        self.assertIn("the graph calls no 'torch.relu'", value["differences"][0]["reason_b"])
        self.assertEqual(self.passnet("leaderboard", "agree", runs[0], runs[0]).returncode, 0)
        self.assertEqual(self.passnet("leaderboard", "agree", runs[0], self.sample).returncode, 3)


if __name__ == "__main__":
    unittest.main()
