"""Passes whose host code runs in Python: --allow-python and --host-code python. Skipped where Python has no PyTorch."""

import importlib.util
import json
import os
import pathlib
import shutil
import sys
import unittest

from json_schema import problems
from passnet_case import PASS, PassnetCase

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


class HostCode(PassnetCase):
    def add_sample(self, name, source):
        """Another sample beside the first one; returns its directory."""
        directory = self.root / name
        shutil.copytree(self.sample, directory)
        (directory / "pass_dir" / "add_relu.py").write_text(source)
        return directory

    def test_what_cannot_be_read_runs_in_python(self):
        self.write_pass(source=host())
        self.assertEqual(self.only_record()["error_kind"], "library-call")
        record = self.only_record("--allow-python")
        self.assertEqual((record["stage"], record["error"], record["host_code"]), ("done", "", "python"))
        self.assertIn("torch.clamp", record["why_python"])
        self.assertEqual(record["passes"], [{"pass": "add_relu", "matches": 1, "declined": 0, "diagnosis": ""}])
        self.assertTrue({"shifted", "special"} <= set(record["profiles"]), record["profiles"])
        self.assert_timed(record, 12)
        self.assertGreater(record["calls_compared"], 0)
        self.assertEqual(record["provenance"]["options"]["host_code"], "allow-python")
        self.assertIn("torch", record["provenance"]["versions"]["candidate in Python"])
        self.assertIn("seccomp filter", record["provenance"]["isolation"])

    def test_it_is_unranked_and_counted_apart(self):
        self.write_pass(source=host())
        done = self.evaluate("--allow-python", "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        value = json.loads(done.stdout)
        self.assertEqual(problems(value, json.loads((SCHEMAS / "eval.json").read_text())), [])
        graph = value["graphs"][0]
        self.assertEqual((graph["verdict"], graph["unranked"], graph["host_code"]), ("unranked", True, "python"))
        self.assertEqual(value["score"]["total"], 0)
        self.assertIn("1 unranked, as host code of their passes ran in Python", self.passnet("score", self.out).stdout)
        self.assertEqual(self.passnet("verify", self.out).returncode, 0)
        self.assertIn("agrees", self.passnet("reproduce", self.out).stdout)

    def test_what_can_be_read_is_read(self):
        record = self.only_record("--allow-python")
        self.assertNotIn("host_code", record)
        self.assertEqual(record["stage"], "done")

    def test_each_graph_of_a_sample_for_itself(self):
        self.write_sample(["small", "wide"])
        meta = self.sample / "graphs" / "wide" / "weight_meta.py"
        meta.write_text(meta.read_text().replace("[40, 50]", "[10, 200]"))
        self.write_pass(source=PASS.replace("    out = ", "    if x.shape[0] == 40:\n        return (x + y) * (x + y > 0)\n    out = "))
        self.evaluate("--allow-python")
        self.assertEqual([record.get("host_code") for record in self.records()], ["python", None])
        self.assertEqual([record["error"] for record in self.records()], ["", ""])

    def test_runs_with_and_without_are_told_apart(self):
        self.write_pass(source=host())
        self.evaluate("--allow-python")
        self.assertIn("--host-code read, was allow-python", self.evaluate("--resume").stderr)
        self.evaluate("--allow-python")
        self.assertNotIn("again", self.evaluate("--resume", "--allow-python").stderr)

    def test_options_that_do_not_go_together(self):
        for flags, code, text in (
            (("--allow-python", "--host-code", "python"), 2, "excludes"),
            (("--host-code", "perl"), 2, "expected read, python"),
            (("--allow-python", "--compiler", "eager"), 3, "--compiler eager, expected passes"),
            (("--host-code", "python", "--pass-pattern-limit", 1), 3, "a limit of patterns or functions"),
        ):
            done = self.evaluate(*flags)
            self.assertEqual(done.returncode, code, done.stderr)
            self.assertIn(text, done.stderr)

    def test_a_python_without_torch_is_no_fault_of_the_pass(self):
        self.write_pass(source=host())
        done = self.evaluate("--allow-python", env={**os.environ, "PASSNET_PYTHON": "/bin/false"})
        self.assertEqual(done.returncode, 4, done.stderr)
        self.assertIn("PASSNET_PYTHON", self.records()[0]["error"])

    def test_several_results_and_passes_built_by_functions(self):
        self.write_pass(source=TWO_RESULTS)
        self.assertEqual(self.only_record("--host-code", "python")["stage"], "done")
        self.write_pass(source=TWO_RESULTS.replace("return total, torch.relu(total)", "return total"))
        self.assertIn("the pattern returns 2 values, the replacement 1", self.only_record("--host-code", "python")["error"])

    def test_no_match_says_what_is_missing(self):
        self.write_pass(source=host().replace("x + y)", "x * y)"))
        record = self.only_record("--host-code", "python")
        self.assertEqual(record["error_kind"], "no-match")
        self.assertIn("the graph calls no '_operator.mul'", record["error"])

    @unittest.skipIf(importlib.util.find_spec("triton") is None, "1 test: Python has no Triton")
    def test_triton_under_its_interpreter(self):
        self.write_pass(source=TRITON_PASS)
        (self.sample / "pass_dir" / "shared.py").write_text(TRITON)
        record = self.only_record("--host-code", "python")
        self.assertEqual((record["stage"], record["error"]), ("done", ""))
        self.assertNotIn("why_python", record)

    def test_a_compiler_may_be_started(self):
        body = """\
import ctypes, os, subprocess, tempfile
    with tempfile.TemporaryDirectory() as place:
        open(place + "/one.c", "w").write("int one(void) { return 1; }")
        subprocess.check_output(["gcc", "-shared", "-fPIC", place + "/one.c", "-o", place + "/one.so"])
        assert ctypes.CDLL(place + "/one.so").one() == 1"""
        self.write_pass(source=host(body))
        self.assertEqual(self.only_record("--allow-python")["error"], "")

    def test_what_host_code_may_not(self):
        outside, kept = self.root / "written", self.root / "kept"
        kept.write_text("kept")
        cases = {
            "absent": (host(top="import no_such_library"), "bad-pass", "No module named 'no_such_library'"),
            "raises": (host("raise KeyError('oops')"), "bad-pass", "KeyError: 'oops'"),
            "asks_to_exit": (host("import sys; sys.exit(3)"), "bad-pass", "SystemExit"),
            "exits": (host("import os; os._exit(7)"), "crash", "exit code 7"),
            "hangs": (host("while True: pass"), "timeout", "add_relu.py:12:"),
            "writes": (host(f"open({str(outside)!r}, 'w')"), "bad-pass", "Permission denied"),
            "empties": (host(f"import os; os.open({str(kept)!r}, os.O_RDONLY | os.O_TRUNC)"), "bad-pass", "not permitted"),
            "locks": (host(f"import os; os.chmod({str(kept)!r}, 0)"), "bad-pass", "not permitted"),
            "connects": (host("import socket; socket.socket()"), "bad-pass", "not permitted"),
            "kills": (host("import os; os.kill(os.getppid(), 9)"), "bad-pass", "not permitted"),
            "hoards": (host("kept = [torch.empty(1 << 30) for _ in range(1000)]"), "bad-pass", "can't allocate memory"),
            "changes": (host("x.add_(1.0)"), "", ""),
            "remembers": (host("return KEPT.setdefault(0, torch.clamp(x + y, min=0))", "KEPT = {}"), "", ""),
            "lies": (host(top="import time\ntime.perf_counter_ns = lambda: 0"), "clock", "clocks"),
            "prints": (host("print('x' * 1000000)"), "", ""),
            "honest": (host(), "", ""),
        }
        right = ("prints", "honest")
        samples = [self.add_sample(name, source) for name, (source, _, _) in cases.items()]
        lines = self.root / "samples.txt"
        lines.write_text("".join(f"{sample}\n" for sample in samples))
        done = self.passnet("eval", lines, "--out", self.out, "--warmup", 1, "--trials", 4, "--timeout", 6, "--allow-python", "--json")
        self.assertEqual(done.returncode, 1, done.stderr)
        graphs = {graph["sample"]: graph for graph in json.loads(done.stdout)["graphs"]}
        for name, (_, kind, text) in cases.items():
            with self.subTest(case=name):
                record = self.records(name)[0]
                self.assertEqual((record["host_code"], record["error_kind"]), ("python", kind), record["error"])
                self.assertIn(text, record["error"])
                self.assertEqual((graphs[name]["correct"], graphs[name]["verdict"] == "unranked"), (name in right,) * 2)
        self.assertFalse(outside.exists())
        self.assertEqual((kept.read_text(), kept.stat().st_mode & 0o777 != 0), ("kept", True))

    def test_a_fork_spoils_no_other_sample(self):
        samples = [self.add_sample("forks", host("import os; os.fork()")), self.add_sample("honest", host())]
        lines = self.root / "samples.txt"
        lines.write_text("".join(f"{sample}\n" for sample in samples))
        self.passnet("eval", lines, "--out", self.out, "--warmup", 1, "--trials", 4, "--timeout", 6, "--allow-python")
        self.assertEqual(self.records("honest")[0]["error"], "")

    def test_agreement_of_two_runs(self):
        schema = json.loads((SCHEMAS / "leaderboard_agree.json").read_text())
        samples = {
            # Read and run alike, whatever the graph makes of it.
            "unmatched": PASS.replace("x + y", "x * y"),
            # Found by its meaning here, and not by its letters there.
            "spelled": PASS.replace("torch.nn.functional.relu(x + y)", "torch.relu(x + y)"),
            "unread": host(),
        }
        lines = self.root / "samples.txt"
        lines.write_text("".join(f"{self.add_sample(name, source)}\n" for name, source in samples.items()))
        runs = [self.root / "read", self.root / "run"]
        for run, flags in zip(runs, ((), ("--host-code", "python"))):
            done = self.passnet("eval", lines, "--out", run, "--warmup", 1, "--trials", 4, *flags)
            self.assertIn(done.returncode, (0, 1), done.stderr)
        done = self.passnet("leaderboard", "agree", *runs, "--json")
        value = json.loads(done.stdout)
        self.assertEqual(problems(value, schema), [], done.stdout)
        self.assertEqual((done.returncode, value["agreed"], value["differing"], value["not_run"]), (1, 1, 1, 1), done.stdout)
        self.assertEqual(value["differences"][0]["graphs"], ["spelled/small"])
        self.assertIn("the graph calls no 'torch.relu'", value["differences"][0]["reason_b"])
        self.assertEqual(self.passnet("leaderboard", "agree", *runs, "--least", 0.5).returncode, 0)
        self.assertEqual(self.passnet("leaderboard", "agree", runs[0], self.sample).returncode, 3)


if __name__ == "__main__":
    unittest.main()
