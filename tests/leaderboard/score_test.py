"""`passnet leaderboard score` from end to end on the CPU: two made-up models, two tasks of relu(x + y).

Scores are of steady times, which replace the measured ones: no busy machine makes a graph a disturbed one.
Full tier: each of six models has a run of its own, in place of three.
"""

import concurrent.futures
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time
import unittest

sys.path[:0] = [str(pathlib.Path(__file__).parents[1] / name) for name in ("eval", "")]
from json_schema import problems  # noqa: E402
from passnet_case import BINARY, KERNEL, PASS, QUICK, RIGHT_BODY, PassnetCase, kernel, take_one_processor  # noqa: E402
from recorded_run import settle  # noqa: E402
from tiers import FULL  # noqa: E402

take_one_processor()

SCHEMA = json.loads((pathlib.Path(os.environ["PASSNET_SOURCE_DIR"]) / "docs" / "schemas" / "leaderboard_score.json").read_text())
LIST = "sorted_output_pass_rule_names.json"
# So far off that it is wrong at t = 1 too, where what is right is settled.
WRONG = kernel("out[i] = x[i] + y[i] + 1000000;")
# What a record says of clocks, of when it was written and where in its file.
OF_TIMES = ("started", "evaluate_seconds", "reference", "candidate", "control", "load", "disturbed", "floor", "calls_compared", "chain")
# Keys of an output that all calls agree on; the others tell of the worst of the timed calls.
OF_ALL_CALLS = ("expected_dtype", "found_dtype", "expected_shape", "found_shape", "equal", "passes_from")
MISSING = "pass 'gone' is listed, but 'gone.py' does not exist"


def without_times(record, other):
    """A record to be compared with that of another run, whose timed calls have other inputs where pairs were dropped."""
    kept = {key: value for key, value in record.items() if key not in OF_TIMES}
    if record["load"]["dropped_pairs"] or other["load"]["dropped_pairs"]:
        kept["outputs"] = [{key: output[key] for key in OF_ALL_CALLS} for output in record["outputs"]]
    return kept


class Submissions(PassnetCase):
    def write_submissions(self):
        self.write_sample(["a", "b"])
        self.tasks = self.root / "official"
        for task, graphs in (("alpha", ["a", "b"]), ("beta", ["b"])):
            self.write_task(task, graphs)
        self.models = [self.root / "submissions" / name for name in ("good", "bad")]
        for task in ("alpha", "beta"):
            self.submit("good", task, score=1.2)
        self.submit("bad", "alpha", kernel_source=WRONG, score=0.1472)

    def write_task(self, task, graphs):
        directory = self.tasks / "tasks" / task
        directory.mkdir(parents=True)
        (directory / "graph_list.txt").write_text("".join(f"{graph}\n" for graph in graphs))
        shutil.copytree(self.sample / "graphs", directory / "graphs")

    def submit(self, model, task, source=PASS, kernel_source=KERNEL % RIGHT_BODY, score=None):
        directory = self.root / "submissions" / model / task
        directory.mkdir(parents=True, exist_ok=True)
        (directory / "add_relu.py").write_text(source)
        (directory / "add_relu.cpp").write_text(kernel_source)
        (directory / LIST).write_text(json.dumps(["add_relu"]))
        if score is not None:
            (directory / "score.txt").write_text(f"{score}")
        return directory

    def command(self, *flags):
        return ["leaderboard", "score", *self.models, "--samples", self.tasks, "--out", self.out, *QUICK, *flags]

    def score(self, *flags, code=0):
        """Runs it with --json; returns the value, the models by name."""
        done = self.passnet(*self.command("--json", *flags))
        self.assertEqual(done.returncode, code, done.stderr)
        value = json.loads(done.stdout)
        self.assertEqual(problems(value, SCHEMA), [], done.stdout[:2000])
        value["models"] = {model["model"]: model for model in value["models"]}
        return value

    def settle(self):
        """Replaces the times of all records that there are."""
        for records in self.out.rglob("records.jsonl"):
            settle(records.parent)

    def settled_score(self, *flags, code=0):
        """Evaluates; returns the value of the same records with steady times."""
        self.score(*flags, code=code)
        self.settle()
        return self.score("--resume", *flags, code=code)

    def records_of(self, model, task):
        return [json.loads(line) for line in (self.out / model / task / "records.jsonl").read_text().splitlines()]


class OneRun(Submissions):
    """Readers of one run, and of copies of it with steady times."""

    @classmethod
    def setUpClass(cls):
        cls.case = case = cls.in_directory_of_class(Submissions)
        case.write_submissions()
        case.score()

    def setUp(self):
        self.root, self.sample, self.out, self.command = self.case.root, self.case.sample, self.case.out, self.case.command

    def settled_copy(self):
        """Lets this test's commands write to a copy of the run, with steady times."""
        measured, self.case.out = self.out, self.root / self.id()
        self.addCleanup(setattr, self.case, "out", measured)
        self.out = shutil.copytree(measured, self.case.out)
        self.settle()

    def test_models_beside_what_was_published(self):
        self.settled_copy()
        found = self.score("--resume")
        good, bad = found["models"]["good"], found["models"]["bad"]
        self.assertEqual((good["summary"]["total"], good["summary"]["coverage"], good["summary"]["correct_share"]), (3, 1, 1))
        self.assertAlmostEqual(good["scores"]["published"], 1.2)
        self.assertAlmostEqual(bad["scores"]["published"], (0.1472 * 0.1) ** 0.5)
        # All wrong, and a task without passes: nothing but what upstream's rules forgive.
        alpha, beta = bad["tasks"]
        self.assertEqual((alpha["task"], beta["task"]), ("alpha", "beta"))
        self.assertAlmostEqual(alpha["scores"]["upstream"], 0.1472, places=4)
        self.assertAlmostEqual(alpha["scores"]["unforgiven"], 0.1)
        self.assertEqual(alpha["reasons"], [])
        self.assertAlmostEqual(beta["scores"]["upstream"], 0.1)
        self.assertEqual(beta["summary"]["unmatched"], 1)
        self.assertIn("the passes are missing", self.records_of("bad", "beta")[0]["error"])
        self.assertEqual(found["model_ranks"]["ours"], {"spearman": 1, "kendall": 1})
        self.assertIn("<h1>Leaderboard</h1>", (self.out / "leaderboard.html").read_text())
        self.assertEqual(json.loads((self.out / "leaderboard.json").read_text())["model_ranks"], found["model_ranks"])

    def test_records_are_reproduced_with_the_submitted_passes(self):
        done = self.passnet("reproduce", f"{self.out / 'bad'}#alpha/a")
        self.assertEqual(done.returncode, 0, done.stderr + done.stdout)

    def test_models_of_one_run_share_a_seed_that_each_promises(self):
        seeds = {(record["seed"], record["seed_nonce"]) for model in ("good", "bad") for task in ("alpha", "beta") for record in self.records_of(model, task)}
        self.assertEqual(len(seeds), 1)
        for model in ("good", "bad"):
            self.assertEqual(self.passnet("verify", self.out / model).returncode, 0)

    def test_words_of_the_table(self):
        self.settled_copy()
        done = self.passnet(*self.command("--resume", "--limit", 1))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("bad: 0 of 1 samples score other than published, or were caught", done.stdout)
        self.assertIn("records by model, and this as a page:", done.stdout)
        for code, flags in ((2, ("--jobs", 2)), (3, ("--graphs", self.sample))):
            self.assertEqual(self.passnet(*self.command("--force", *flags)).returncode, code)


class Leaderboard(Submissions):
    def setUp(self):
        super().setUp()
        self.write_submissions()

    def test_a_model_is_a_run(self):
        self.score()
        for command in ("score", "verify"):
            done = self.passnet(command, self.out / "good")
            self.assertEqual(done.returncode, 0, done.stderr + done.stdout)
        self.submit("good", "alpha", kernel_source=WRONG)
        self.assertEqual(self.passnet("verify", self.out / "good").returncode, 5, "the passes have changed since")
        self.settle()
        refused = self.passnet(*self.command())
        self.assertEqual(refused.returncode, 3)
        self.assertIn("holds the records of another run, of 'alpha', 'beta'", refused.stderr)
        again = self.passnet(*self.command("--resume"))
        self.assertEqual(again.returncode, 0, again.stderr)
        self.assertIn("good: 2 graph", again.stderr)
        self.assertIn("bad: 0 graph", again.stderr)
        del self.models[1]
        self.assertEqual(self.score("--force", "--limit", 1)["models"]["good"]["tasks"][0]["summary"]["correct_share"], 0)

    def test_goes_on_after_a_kill(self):
        del self.models[1]
        slow = kernel("for (volatile int again = n == 2040; again;) {} out[i] = x[i] + y[i] < 0 ? 0 : x[i] + y[i];")
        meta = self.sample / "graphs" / "b" / "weight_meta.py"
        meta.write_text(meta.read_text().replace("40, 50", "40, 51"))
        self.submit("good", "alpha", kernel_source=slow)
        process = subprocess.Popen([str(BINARY), *map(str, self.command())], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   stdin=subprocess.DEVNULL, text=True)
        records = self.out / "good" / "alpha" / "records.jsonl"
        deadline = time.monotonic() + 60
        while not records.exists() or records.read_text().count("\n") != 1:
            self.assertLess(time.monotonic(), deadline, "the first graph was not evaluated")
            time.sleep(0.02)
        process.send_signal(signal.SIGKILL)
        process.communicate(timeout=60)
        settle(records.parent)
        meta.write_text(meta.read_text().replace("40, 51", "40, 52"))
        first = self.records_of("good", "alpha")[0]
        found = self.score("--resume")
        self.assertEqual(self.records_of("good", "alpha")[0], first)
        disturbed = sum(record["disturbed"] for task in ("alpha", "beta") for record in self.records_of("good", task))
        self.assertEqual(found["models"]["good"]["summary"]["total"], 3 - disturbed)

    def test_bad_submissions_fail_and_do_not_end_the_run(self):
        shutil.rmtree(self.root / "submissions" / "bad" / "alpha")
        broken = self.submit("bad", "alpha")
        (broken / LIST).write_text('["add_relu",')
        (broken / "score.txt").write_text("fast")
        absent = self.submit("bad", "beta")
        (absent / LIST).write_text('["gone"]')
        found = self.settled_score()
        self.assertEqual(found["models"]["good"]["summary"]["correct_share"], 1)
        bad = found["models"]["bad"]
        self.assertEqual(bad["summary"]["correct_share"], 0)
        self.assertIsNone(bad["tasks"][0]["scores"]["published"])
        self.assertEqual({record["error_kind"] for task in ("alpha", "beta") for record in self.records_of("bad", task)}, {"bad-input"})
        self.assertIn(MISSING, self.records_of("bad", "beta")[0]["error"])

    def test_bad_tasks_are_told(self):
        del self.models[1]
        (self.tasks / "tasks" / "beta" / "graph_list.txt").write_text("b\nnowhere\n")
        found = self.settled_score(code=1)
        self.assertEqual([one["task"] for one in found["not_evaluated"]], ["beta"])
        self.assertIn("'nowhere' does not exist", found["not_evaluated"][0]["why"])
        self.assertEqual(found["models"]["good"]["summary"]["total"], 2)
        done = self.passnet(*self.command("--resume", "--filter", "beta"))
        self.assertEqual(done.returncode, 3)
        self.assertIn("none of 1 samples can be evaluated; beta", done.stderr)

    def submit_others(self):
        """Models that fail in other ways, before and after one that is right."""
        bodies = {"crashes": "*(volatile int*)8 = 1;",
                  "crashes_on_large_values": "if (x[i] > 1000 || x[i] < -1000) *(volatile int*)8 = 1; out[i] = x[i] + y[i] < 0 ? 0 : x[i] + y[i];",
                  "wrong_on_large_values": "out[i] = x[i] + y[i] > 0 && x[i] < 1000 ? x[i] + y[i] : 0;",
                  "right": "T sum = x[i] + y[i]; out[i] = sum < 0 ? 0 : sum;"}
        for model, body in bodies.items():
            for task in ("alpha", "beta"):
                self.submit(model, task, kernel_source=kernel(body))
            self.models.append(self.root / "submissions" / model)
        return [model.name for model in self.models]

    def test_records_are_those_of_one_model_at_a_time(self):
        names = self.submit_others()
        self.score("--seed", 7)
        together = {(model, task): self.records_of(model, task) for model in names for task in ("alpha", "beta")}
        commands, alone, models = [], [], self.models
        for model in models if FULL else models[1:5:2] + models[-1:]:
            alone.append(model.name)
            self.models, self.out = [model], self.root / f"{model.name}_alone"
            commands.append(self.command("--seed", 7))
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            for done in pool.map(lambda command: self.passnet(*command), commands):
                self.assertEqual(done.returncode, 0, done.stderr)
        for (model, task), records in together.items():
            self.assertEqual(len(records), 2 if task == "alpha" else 1)
            if model not in alone:
                continue
            self.out = self.root / f"{model}_alone"
            for one, other in zip(records, self.records_of(model, task)):
                self.maxDiff = None
                self.assertEqual(without_times(one, other), without_times(other, one), (model, task))
        words = {model: together[model, "beta"][0]["error_kind"] for model in names}
        self.assertEqual(words, {"good": "", "bad": "bad-input", "crashes": "crash", "crashes_on_large_values": "crash",
                                 "wrong_on_large_values": "", "right": ""})
        profiles = {model: len(together[model, "beta"][0].get("profiles", [])) for model in names}
        self.assertEqual(profiles["right"], profiles["good"])
        self.assertLess(profiles["wrong_on_large_values"], profiles["right"])
        self.assertGreater(profiles["crashes_on_large_values"], 0)

    def test_a_model_that_is_ahead_waits_for_no_other(self):
        models = self.models
        self.models = models[:1]
        self.score()
        self.settle()
        ahead = self.records_of("good", "alpha")
        self.models = models
        done = self.passnet(*self.command("--resume"))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("bad: 3 graph", done.stderr)
        self.assertEqual(self.records_of("good", "alpha"), ahead)
        self.assertEqual([record["graph"] for record in self.records_of("bad", "alpha")], ["a", "b"])
        self.assertEqual(self.passnet("verify", self.out / "good").returncode, 0)

    def test_lists_of_graphs_beside_the_graphs(self):
        del self.models[1]
        lists = self.root / "lists"
        lists.mkdir()
        (lists / "beta.txt").write_text("graphs/a\ngraphs/b\n")
        self.tasks = lists
        found = self.settled_score("--graphs", self.sample)
        self.assertEqual(found["models"]["good"]["summary"]["total"], 2)
        self.assertEqual(self.records_of("good", "beta")[1]["graph"], "graphs/b")

    def test_kernels_are_built_ahead(self):
        del self.models[1]
        done = self.passnet(*self.command("--build-jobs", 2))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("good: compiling what 3 graphs launch", done.stderr)
        self.assertEqual(self.records_of("good", "alpha")[0]["stage"], "done")
        self.settle()
        again = self.passnet(*self.command("--resume", "--build-jobs", 2))
        self.assertNotIn("compiling", again.stderr, "there is nothing left to do")


if __name__ == "__main__":
    unittest.main()
