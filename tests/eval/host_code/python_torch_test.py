"""PyTorch from Python as the candidate and as the baseline of an evaluation: skipped where Python has no PyTorch."""

import importlib.util
import json
import os
import sys
import unittest

from passnet_case import QUICK, PassnetCase, kernel, take_one_processor
from recorded_run import settle
from tiers import full_tier

take_one_processor()

if importlib.util.find_spec("torch") is None:
    sys.exit(77)
os.environ["PASSNET_PYTHON"] = sys.executable


class PythonTorch(PassnetCase):
    timing = QUICK

    def test_torch_compile_as_the_candidate(self):
        self.write_pass(source="this is no pass")  # which is not read
        record = self.only_record("--sides", "inductor")
        self.assertEqual((record["compiler"], record["stage"], record["error"]), ("inductor", "done", ""))
        self.assertEqual(record["candidate"]["mode"], "torch.compile")
        self.assert_timed(record, 2)
        self.assertLessEqual(record["outputs"][0]["passes_from"], -5)
        self.assertIn("shifted", record["profiles"])
        self.assertEqual((record["passes"], record["provenance"]["passes"]), ([], {}))
        self.assertIn("torch in Python", record["provenance"]["versions"])
        settle(self.out / "sample")
        self.assertNotIn("again", self.evaluate("--resume", "--sides", "inductor").stderr)
        self.assertIn("--sides passes,eager, was inductor,eager", self.evaluate("--resume").stderr)

    def test_python_as_the_baseline(self):
        done = self.evaluate("--sides", "passes,python", "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(json.loads(done.stdout)["graphs"][0]["baseline"], "python")
        record = self.records()[0]
        self.assertEqual(record["reference"]["baseline"], "python")
        self.assertNotIn("baseline", record["candidate"])
        self.assert_timed(record, 2)
        self.assertGreater(record["calls_compared"], 0)
        settle(self.out / "sample")
        self.assertIn("against PyTorch eager from Python", self.evaluate("--resume", "--sides", "passes,python").stdout)
        self.assertIn("--sides passes,eager, was passes,python", self.evaluate("--resume").stderr)

    @full_tier
    def test_a_wrong_pass_is_wrong_against_any_baseline(self):
        self.write_pass(kernel_source=kernel("out[i] = x[i] + y[i];"))
        done = self.evaluate("--sides", "passes,python", "--json")
        self.assertEqual((done.returncode, [graph["correct"] for graph in json.loads(done.stdout)["graphs"]]), (1, [False]))

    def test_a_python_without_torch_is_no_fault_of_the_pass(self):
        for flags in (("--sides", "passes,python"), ("--sides", "inductor"), ("--sides", "aotinductor")):
            done = self.evaluate(*flags, env={**os.environ, "PASSNET_PYTHON": "/bin/false"})
            self.assertEqual(done.returncode, 4, done.stderr)

    def test_profile_is_not_for_compilers_of_pytorch(self):
        for compiler in ("inductor", "aotinductor"):
            done = self.evaluate("--sides", compiler, "--profile")
            self.assertEqual(done.returncode, 2)
            self.assertIn(f"--profile with --sides {compiler}", done.stderr)


if __name__ == "__main__":
    unittest.main()
