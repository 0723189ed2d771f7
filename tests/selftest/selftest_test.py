"""The corpus of attacks, evaluated: all are caught for what they are, no honest pass is accused, and the cell holds by itself.

Quick tier: all attacks and controls, and 16 mutants in place of 40.
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path[:0] = [os.path.join(os.environ["PASSNET_SOURCE_DIR"], "tests", name) for name in ("eval", "")]
from passnet_case import take_one_processor  # noqa: E402
from tiers import FULL  # noqa: E402

take_one_processor()

BINARY = pathlib.Path(os.environ["PASSNET_BINARY_DIR"]) / "bin" / "passnet"
SEED = "7"  # of the draw of mutants; attacks and controls get inputs of a new seed each time

# What reaches for the kernel, a clock, memory that outlives a call, or code of its own.
BREAKING_OUT = ("code_hidden_in_constant", "code_in_", "code_on_stack", "code_rd", "code_return_address", "code_vdso", "object_calls_clock", "object_calls_exit",
                "object_calls_open", "object_calls_printf", "object_calls_signal", "object_calls_thread", "object_code_section", "state_", "text_asm", "text_fake")


def selftest(*arguments):
    """What passnet selftest says."""
    done = subprocess.run([str(BINARY), "selftest", "-j", "1", "--json", *arguments], capture_output=True, text=True, timeout=800,
                          stdin=subprocess.DEVNULL, env={**os.environ, "PASSNET_PYTHON": sys.executable})
    if done.returncode not in (0, 1):
        raise AssertionError(f"exit code {done.returncode}: {done.stderr}")
    return json.loads(done.stdout)


class EvenFamilies(unittest.TestCase):
    """Every other file of attacks, so that two suites share the time."""

    first = 0

    def test_every_attack_is_caught_for_what_it_is_and_no_control_is_accused(self):
        files = sorted(pathlib.Path(os.environ["PASSNET_SOURCE_DIR"], "tests/adversarial").glob("*.txt"))
        graphs = [file for file in files if file.name.startswith("graphs")]
        families = [file for file in files if file not in graphs]
        with tempfile.TemporaryDirectory(prefix="passnet-selftest-") as corpus:
            for file in graphs + families[self.first :: 2]:
                shutil.copy(file, corpus)
            found = selftest("--corpus", corpus)
        wrong = [f"{one['bundle']}: {one['result']}: expected {one['expected']}, found {one['found']['verdict']}: {one['found']['reason']}"
                 for one in found["bundles"] if one["result"] != "ok"]
        self.assertEqual(wrong, [])
        self.assertEqual((found["caught"], found["accused"]), (found["attacks"], 0))
        self.assertEqual(found["rows_caught"], found["rows"])
        self.assertGreater(found["attacks"], 100)


class OddFamilies(EvenFamilies):
    first = 1


class Selftest(unittest.TestCase):
    def test_the_cell_holds_what_is_not_read_before(self):
        found = selftest("--without", "source-filter", "object-checks", "code-scan", "--filter", *BREAKING_OUT)
        through = [one["bundle"] for one in found["bundles"] if one["result"] == "GOT THROUGH"]
        self.assertEqual(through, [])
        self.assertGreater(found["attacks"], 20)

    def test_without_a_layer_what_it_holds_gets_through(self):
        names = ("plan_wrong_strides", "plan_alias_outputs", "hostile_link_kernel", "hostile_link_model")
        found = selftest("--without", "layouts", "source-files", "--filter", *names)
        self.assertEqual([one["result"] for one in found["bundles"]], ["GOT THROUGH"] * len(names))
        self.assertEqual(found["without"], ["layouts", "source-files"])

    def test_a_dumped_attack_is_a_sample_that_eval_takes(self):
        with tempfile.TemporaryDirectory(prefix="passnet-selftest-") as home:
            sample, environment = pathlib.Path(home) / "stale_tail", {**os.environ, "PASSNET_HOME": home}
            dump = [str(BINARY), "selftest", "--filter", "stale_tail", "--out", str(sample.parent)]
            done = subprocess.run(dump, capture_output=True, text=True, timeout=60, env=environment)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertEqual(done.stdout, f"Leaves the last three elements as they were found.\nexpected: unwritten\nevaluated by: passnet eval {sample}\n")
            done = subprocess.run([str(BINARY), "eval", str(sample), "--trials", "3", "--out", f"{home}/run", "--json"], capture_output=True, text=True,
                                  timeout=300, stdin=subprocess.DEVNULL, env=environment)
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertIn("unwritten", done.stdout)
            done = subprocess.run(dump, capture_output=True, text=True, timeout=60, env=environment)
            self.assertEqual((done.returncode, done.stderr), (3, f"error: '{sample}' holds 'expect.json', expected an empty or a new directory\nhint: remove it, or name another directory\n"))

    def test_mutants_that_change_results_are_caught(self):
        found = selftest("--filter", "controls/relu", "--mutants", "40" if FULL else "16", "--seed", SEED)["mutants"]
        self.assertGreater(found["killed"], 15 if FULL else 6)
        self.assertEqual(found["survivors"], [])


if __name__ == "__main__":
    unittest.main()
