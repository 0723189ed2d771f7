"""`eval --resume` keeps a record only while everything it was made of is the same; no run overwrites another unasked.

Most tests go on with a copy of one real run. Its times are replaced, so that no busy machine makes it a disturbed one.
"""

import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import time
import unittest

from passnet_case import BINARY, QUICK, PassnetCase, cells, descendants, kernel, take_one_processor
from recorded_run import settle

take_one_processor()

WRONG = kernel("out[i] = x[i] + y[i];")


ENDLESS = "for (volatile int again = n == 2040; again;) {} "  # on 40 x 51 elements alone


class Resume(PassnetCase):
    timing = QUICK

    @classmethod
    def setUpClass(cls):
        case = cls.in_directory_of_class()
        done = case.evaluate()
        case.assertEqual(done.returncode, 0, done.stderr)
        settle(case.out / "sample")
        cls.run_of_class = case.out

    def start(self, *flags):
        command = [str(BINARY), "eval", str(self.sample), "--out", str(self.out), *map(str, self.timing), *flags]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, stdin=subprocess.DEVNULL)
        self.addCleanup(process.kill)
        return process

    def superseded(self):
        path = self.out / "sample" / "records.superseded.jsonl"
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []

    def first_run(self):
        """Puts the run of the class in place, which is of the same sample; returns its records."""
        shutil.copytree(self.run_of_class, self.out)
        return self.records()

    def first_run_of(self, *graphs):
        """A run of a sample with these graphs; that of "slow" has 40 x 51 elements."""
        self.write_sample(graphs)
        meta = self.sample / "graphs" / "slow" / "weight_meta.py"
        if meta.exists():
            meta.write_text(meta.read_text().replace("40, 50", "40, 51"))
        done = self.evaluate()
        self.assertEqual(done.returncode, 0, done.stderr)
        return self.records()

    def resumed(self, *flags, why, returncode=0):
        """Goes on, expects this reason for the one graph, and that its old record is set aside."""
        before = self.records()
        done = self.evaluate("--resume", *flags)
        self.assertEqual(done.returncode, returncode, done.stderr)
        self.assertIn(f"sample: small again: {why}\n", done.stderr)
        self.assertEqual(self.superseded()[-1:], before)
        self.assertEqual(len(self.records()), 1)
        self.assertNotEqual(self.records(), before)
        return done

    def test_what_is_the_same_is_kept(self):
        before = self.first_run()
        done = self.evaluate("--resume")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.records(), before)
        self.assertNotIn(" again", done.stderr)
        self.assertEqual(self.superseded(), [])

    def test_broken_kernel_is_wrong_and_counted_once(self):
        self.first_run()
        self.write_pass(kernel_source=WRONG)
        done = self.resumed("--json", why="kernel add_relu.cpp changed", returncode=1)
        self.assertEqual([graph["correct"] for graph in json.loads(done.stdout)["graphs"]], [False])
        scored = self.passnet("score", self.out)
        self.assertIn(" 1 graphs, 0.0 % correct", scored.stdout)

    def test_other_trials_and_seed(self):
        self.first_run()
        seed = self.records()[0]["seed"]
        self.resumed("--trials", 8, "--seed", 7, why=f"--seed 7, was {seed}; --trials 8, was 2")
        self.assertIs(self.records()[0]["seed_given"], True)
        self.assert_timed(self.records()[0], 8)

    def test_no_passes_at_all(self):
        self.first_run()
        done = self.evaluate("--resume", "--sides", "eager")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("--sides eager,eager, was passes,eager", done.stderr)
        self.assertEqual([record["compiler"] for record in self.records()], ["eager"])

    def test_changed_pass_and_changed_inputs(self):
        self.first_run()
        source = self.sample / "pass_dir" / "add_relu.py"
        source.write_text(source.read_text() + "# a remark\n")
        self.resumed(why="pass add_relu.py changed")
        meta = self.sample / "graphs" / "small" / "weight_meta.py"
        meta.write_text(meta.read_text().replace("40, 50", "40, 60"))
        self.resumed(why="weight_meta.py changed")

    def test_record_that_does_not_say_what_it_was_made_of(self):
        self.first_run()
        record = self.records()[0]
        del record["provenance"], record["chain"]
        (self.out / "run.jsonl").unlink()
        (self.out / "sample" / "records.jsonl").write_text(json.dumps(record) + "\n")
        self.resumed(why="its record does not say what it was made of")

    def test_records_of_an_older_version_are_no_run_that_verifies(self):
        self.first_run_of("old", "new")
        record = next(one for one in self.records() if one["graph"] == "old")
        del record["chain"]
        (self.out / "run.jsonl").unlink()
        (self.out / "sample" / "aggregated_score.json").unlink()
        (self.out / "sample" / "records.jsonl").write_text(json.dumps(record) + "\n")
        self.assertEqual(self.evaluate("--resume").returncode, 0)
        self.assertEqual([one["graph"] for one in self.records()], ["old", "new"])
        verified = self.passnet("verify", self.out)
        self.assertIn("unchained: 1 records of an older passnet", verified.stdout)
        self.assertEqual(verified.returncode, 1, verified.stdout)

    def test_graph_that_is_no_longer_listed_is_not_counted(self):
        self.first_run_of("kept", "dropped")
        (self.sample / "graph_list.txt").write_text("kept\n")
        done = self.evaluate("--resume", "--json")
        self.assertIn("sample: the record of dropped is set aside: the sample no longer lists the graph", done.stderr)
        self.assertEqual([graph["graph"] for graph in json.loads(done.stdout)["graphs"]], ["kept"])
        self.assertEqual([record["graph"] for record in self.records()], ["kept"])

    def test_missing_compiler_is_no_result(self):
        bare = {**os.environ, "PATH": "/nonexistent"}
        done = self.evaluate(env=bare)
        self.assertEqual(done.returncode, 4)
        self.assertIn("not evaluated: 1 of 1 graphs, for reasons outside the passes; they count in no score, and --resume", done.stderr)
        self.assertIn("not in the score: 1 that the machine kept from being evaluated", self.passnet("score", self.out).stdout)
        self.assertEqual(self.passnet("verify", self.out).returncode, 1)
        record = self.records()[0]
        self.assertEqual((record["stage"], record["error_kind"]), ("build", "resource"))
        self.resumed(why="it ended with 'resource' for reasons outside the pass")
        self.assertEqual(self.records()[0]["stage"], "done")

    def candidates(self, pid):
        """The candidate worker and what confines it, the outermost first."""
        found = []
        for child in descendants(pid):
            try:
                words = pathlib.Path(f"/proc/{child}/cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
            if b"candidate" in words:
                found.append(child)
        return found

    def evaluate_and_signal(self, of, number, timeout):
        """Evaluates a kernel that never ends. Once it runs, one of `of(pid)`, the last, gets the signal."""
        self.write_pass(kernel_source=kernel(ENDLESS + "out[i] = x[i] + y[i] < 0 ? 0 : x[i] + y[i];"))
        meta = self.sample / "graphs" / "small" / "weight_meta.py"
        meta.write_text(meta.read_text().replace("40, 50", "40, 51"))
        process = self.start("--timeout", str(timeout))
        self.wait_for_kernel(process.pid)
        os.kill(of(process.pid)[-1], number)
        _, stderr = process.communicate(timeout=60)
        return process.returncode, self.records()[0], stderr

    def test_kernel_ended_from_outside_is_no_result(self):
        code, record, stderr = self.evaluate_and_signal(cells, signal.SIGTERM, 100)
        self.assertEqual((code, record["error_kind"]), (4, "killed"), stderr)
        self.assertIn("the machine ended the process of kernel", record["error"])

    def test_stopped_candidate_times_out(self):
        code, record, stderr = self.evaluate_and_signal(self.candidates, signal.SIGSTOP, 2)
        self.assertEqual((code, record["error_kind"]), (1, "timeout"), stderr)

    def test_worker_killed_from_outside_is_no_result(self):
        code, record, stderr = self.evaluate_and_signal(self.candidates, signal.SIGKILL, 100)
        self.assertEqual((code, record["error_kind"]), (4, "killed"), stderr)
        self.assertIn("SIGKILL", record["error"])
        done = self.evaluate("--resume", "--timeout", 1)
        self.assertIn("sample: small again: it ended with 'killed' for reasons outside the pass", done.stderr)
        self.assertEqual(self.records()[0]["error_kind"], "timeout")

    def test_interrupted_while_going_on_loses_nothing(self):
        before = self.first_run_of("quick", "slow")
        self.write_pass(kernel_source=kernel(ENDLESS + "out[i] = 0;"))
        process = self.start("--resume")
        deadline = time.monotonic() + 60
        path = self.out / "sample" / "records.jsonl"
        while not self.superseded() or path.read_text().count("\n") != 1:
            self.assertLess(time.monotonic(), deadline, "the first graph was not measured anew")
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        stdout, stderr = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130, stderr)
        self.assertIn("sample: quick, slow again: kernel add_relu.cpp changed", stderr)
        self.assertEqual(self.superseded(), before)
        quick = self.records()
        self.assertEqual([record["graph"] for record in quick], ["quick"])
        meta = self.sample / "graphs" / "slow" / "weight_meta.py"
        meta.write_text(meta.read_text().replace("40, 51", "40, 52"))
        self.assertEqual(self.evaluate("--resume").returncode, 1)
        self.assertEqual([record["graph"] for record in self.records()], ["quick", "slow"])
        self.assertEqual(self.records()[:1], quick)


class RunDirectories(PassnetCase):
    timing = QUICK

    def run_here(self, *flags):
        return self.passnet("eval", self.sample, *self.timing, *flags, cwd=self.root)

    def test_records_of_another_run_are_not_overwritten(self):
        self.assertEqual(self.evaluate().returncode, 0)
        before = self.records()
        refused = self.passnet("eval", self.sample, "--out", self.out)
        self.assertEqual(refused.returncode, 3)
        self.assertIn("holds the records of another run, of 'sample'", refused.stderr)
        self.assertIn("--resume goes on with it, --force deletes them", refused.stderr)
        self.assertEqual(self.records(), before)
        self.assertEqual(self.evaluate("--force").returncode, 0)
        self.assertNotEqual(self.records(), before)

    def test_each_run_has_a_directory_and_resume_takes_the_latest(self):
        first = self.run_here()
        self.assertEqual(first.returncode, 0, first.stderr)
        self.assertIn("records and report: passnet-out/latest/report.html", first.stdout)
        out = self.root / "passnet-out"
        one = (out / "latest").resolve()
        self.assertTrue(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-sample", one.name), one.name)
        self.assertEqual(self.run_here("--resume").returncode, 0)
        self.assertEqual((out / "latest").resolve(), one)
        self.assertEqual(self.run_here().returncode, 0)
        two = (out / "latest").resolve()
        self.assertNotEqual(two, one)
        self.assertEqual({path.name for path in out.iterdir()}, {one.name, two.name, "latest"})
        for run in (one, two):
            self.assertEqual((run / "sample" / "records.jsonl").read_text().count("\n"), 1)
        settle(two / "sample")
        scored = self.passnet("score", "passnet-out", cwd=self.root)
        self.assertIn(" 1 graphs, 100.0 % correct", scored.stdout)

    def test_force_is_for_a_directory_that_was_named(self):
        self.assertEqual(self.run_here("--force").returncode, 2)
        self.assertEqual(self.evaluate("--resume", "--force").returncode, 2)


if __name__ == "__main__":
    unittest.main()
