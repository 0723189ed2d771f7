"""`passnet compare` on copies of a recorded run, `passnet reproduce` on one real run: times are given, not measured."""

import json
import shutil
import unittest

from passnet_case import QUICK, PassnetCase, kernel, take_one_processor
from recorded_run import RECORDED, load_records, steady

take_one_processor()


class RunsCase(PassnetCase):
    def write_run(self, name, **changes):
        """A copy of the one record with these fields, as a run of its own; returns its directory."""
        run = self.root / name
        record = {**self.record, **changes}
        record.pop("chain", None)  # what is made up is in no chain
        (run / "sample").mkdir(parents=True)
        (run / "sample" / "records.jsonl").write_text(json.dumps(record) + "\n")
        return run

    def timed_run(self, name, speedup, **changes):
        return self.write_run(name, reference={"warmup": 1, "trials_us": steady(20)},
                              candidate={"warmup": 1, "trials_us": steady(20 / speedup)}, **changes)

    def wrong_outputs(self):
        return [{**{key: value for key, value in self.record["outputs"][0].items() if key != "budget"}, "passes_from": 6, "equal": False}]


class Compare(RunsCase):
    def setUp(self):
        super().setUp()
        self.record = load_records(RECORDED / "three_graphs" / "sample" / "records.jsonl")[0]

    def check(self, before, after, word, returncode):
        done = self.passnet("compare", before, after)
        self.assertEqual(done.returncode, returncode, done.stdout + done.stderr)
        self.assertRegex(done.stdout, rf"\n{word} +small ")
        self.assertIn(f"\n1 {word}\n", done.stdout)

    def test_words_and_exit_codes(self):
        slow, fast = self.timed_run("slow", 1.5), self.timed_run("fast", 2)
        wrong = self.timed_run("wrong", 3, outputs=self.wrong_outputs())
        self.check(slow, fast, "FASTER", 0)
        self.check(fast, slow, "SLOWER", 1)
        self.check(fast, fast, "SAME", 0)
        self.check(wrong, fast, "RIGHT", 0)
        self.check(fast, wrong, "WRONG", 1)
        self.check(wrong, wrong, "BOTH WRONG", 0)

    def test_forms(self):
        slow, fast = self.timed_run("slow", 1.5), self.timed_run("fast", 2)
        report = json.loads(self.passnet("compare", "--json", slow, fast / "sample" / "records.jsonl").stdout)
        self.assertEqual((report["worse"], report["counts"]["FASTER"]), (False, 1))
        graph = report["graphs"][0]
        self.assertAlmostEqual(graph["ratio"], 2 / 1.5, places=2)
        self.assertLess(graph["a"]["high"], graph["b"]["low"])
        self.assertEqual((graph["graph"], graph["change"]), ("small", "FASTER"))
        page = self.root / "change.html"
        self.assertEqual(self.passnet("compare", slow, fast, "--html", page).returncode, 0)
        self.assertIn('<td class="verdict good">FASTER</td>', page.read_text())

    def test_says_what_the_runs_are_made_of(self):
        other = {**self.record["provenance"], "kernels": {"add_relu.cpp": "0" * 64}}
        done = self.passnet("compare", self.timed_run("a", 2), self.timed_run("b", 2, provenance=other))
        self.assertIn("B is made of other things than A:\n  kernel add_relu.cpp changed\n", done.stdout)

    def test_runs_without_a_common_graph(self):
        done = self.passnet("compare", self.timed_run("a", 2), self.timed_run("b", 2, graph="other"))
        self.assertEqual(done.returncode, 3)
        self.assertIn("error: no graph is in both", done.stderr)

    def test_run_that_is_not_there(self):
        done = self.passnet("compare", self.timed_run("a", 2), self.root / "absent")
        self.assertEqual(done.returncode, 3)
        self.assertIn("absent' does not exist", done.stderr)


class Reproduce(RunsCase):
    """Each test has copies of the record and of the sample of one real run, which names this machine and these programs."""

    timing = QUICK

    @classmethod
    def setUpClass(cls):
        case = cls.in_directory_of_class()
        cls.recorded = case.only_record()
        case.assertEqual(cls.recorded["error"], "")

    def setUp(self):
        super().setUp()
        self.record = {**self.recorded, "provenance": {**self.recorded["provenance"], "sample_path": str(self.sample)}}

    def noisy_run(self, name, **changes):
        """Times that no speed is told apart from."""
        side = {"warmup": 1, "trials_us": [1, 1000] * 50}
        return self.write_run(name, reference=side, candidate=side, disturbed=False, **changes)

    def test_right_again(self):
        done = self.passnet("reproduce", f"{self.noisy_run('run')}#small")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertTrue(done.stdout.startswith("sample/small: agrees\n  verdict: 'correct' again\n"), done.stdout)

    def test_other_verdict(self):
        run = self.noisy_run("run", outputs=self.wrong_outputs())
        done = self.passnet("reproduce", f"{run / 'sample' / 'records.jsonl'}#small", "--json")
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertEqual(json.loads(done.stdout)["graphs"][0]["result"], "differs")
        self.assertIn("verdict: 'correct', was 'wrong'", json.loads(done.stdout)["graphs"][0]["remarks"])

    def test_changed_sources_are_not_evaluated(self):
        self.write_pass(kernel_source=kernel("out[i] = 0;"))
        done = self.passnet("reproduce", self.noisy_run("run"))
        self.assertEqual(done.returncode, 5, done.stdout + done.stderr)
        self.assertIn("sample/small: not evaluated, it is made of other things now\n  kernel add_relu.cpp changed\n", done.stdout)

    def test_other_versions_are_said(self):
        provenance = json.loads(json.dumps(self.record["provenance"]))
        provenance["versions"]["torch"] = "1.0"
        done = self.passnet("reproduce", self.noisy_run("run", provenance=provenance))
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertRegex(done.stdout, r"\n  now torch '.*', was '1\.0'\n")

    def test_sample_that_was_moved(self):
        run = self.noisy_run("run")
        moved = self.root / "elsewhere" / "sample"
        moved.parent.mkdir()
        shutil.move(self.sample, moved)
        done = self.passnet("reproduce", run)
        self.assertEqual(done.returncode, 3)
        self.assertIn("hint: --sample DIR says where the sample lies now", done.stderr)
        self.assertEqual(self.passnet("reproduce", run, "--sample", moved).returncode, 0)

    def test_graph_without_a_record(self):
        done = self.passnet("reproduce", f"{self.noisy_run('run')}#smal")
        self.assertEqual(done.returncode, 3)
        self.assertIn("error: no record of graph 'smal' among 1\nhint: did you mean 'small'?", done.stderr)


if __name__ == "__main__":
    unittest.main()
