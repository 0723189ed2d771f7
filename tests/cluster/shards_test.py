"""A list in shards, a queue, and what Slurm would be given: by the commands, from end to end."""

import json
import os
import pathlib
import re
import subprocess
import sys
import unittest

SOURCE = pathlib.Path(os.environ["PASSNET_SOURCE_DIR"])
sys.path.insert(0, str(SOURCE / "tests" / "eval"))
from json_schema import problems  # noqa: E402
from passnet_case import QUICK, PassnetCase, take_one_processor  # noqa: E402

take_one_processor()

NAMES = [f"relu_{i}" for i in range(4)]


class Shards(PassnetCase):
    timing = QUICK

    def setUp(self):
        super().setUp()
        self.list = self.add_list(NAMES)

    def passnet_ok(self, *arguments, code=0, **options):
        done = self.passnet(*arguments, **options)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout

    def json_of(self, *arguments, command=None, code=0):
        """What the command prints with --json, held to its schema."""
        words = (command or arguments[0]).split()
        value = json.loads(self.passnet_ok(*words, "--json", *arguments[len(words) :], code=code))
        schema = json.loads((SOURCE / "docs" / "schemas" / f"{'_'.join(words)}.json").read_text())
        self.assertEqual(problems(value, schema), [])
        return value

    def samples_in(self, run):
        return sorted(path.parent.name for path in run.glob("*/records.jsonl"))

    def test_shards_by_the_task_of_an_array_are_merged_to_one_run(self):
        for task in (0, 1):
            slurm = {"SLURM_ARRAY_TASK_ID": str(task), "SLURM_ARRAY_TASK_COUNT": "2", "SLURM_ARRAY_TASK_MIN": "0"}
            self.passnet_ok("eval", self.list, "--shard", "auto", "--out", self.root / f"run{task}", "--sides", "eager", *QUICK,
                            env={**os.environ, **slurm})
        parts = [self.samples_in(self.root / f"run{task}") for task in (0, 1)]
        self.assertEqual(sorted(sum(parts, [])), NAMES)
        merged = self.root / "merged"
        (told,) = self.json_of("merge", self.root / "run0", self.root / "run1", "-o", merged)
        self.assertEqual((told["runs"], told["samples"], told["records"], told["missing"], told["left"]), (2, 4, 4, [], {}))
        self.assertEqual(self.samples_in(merged), NAMES)
        self.assertEqual(self.passnet_ok("verify", merged).count("\nok "), 4)
        self.assertIn(": 4 graphs", self.passnet_ok("score", merged))
        self.assertEqual(self.passnet_ok("merge", self.root / "run1", "-o", self.root / "half", code=1).splitlines()[1:], ["missing: shard 1/2"])

    def test_a_shard_without_a_sample_is_done(self):
        self.assertEqual(self.passnet_ok("eval", self.root / NAMES[0], "--shard", f"{1 + (self.shard_of(NAMES[0]) == 1)}/2", "--out", self.out), "")
        self.assertEqual([path.name for path in self.out.iterdir() if not path.name.startswith(".")], ["run.jsonl"])

    def shard_of(self, name):
        """1 or 2, as `author --write-only` sees it, which evaluates nothing."""
        out = self.root / "written"
        self.passnet_ok("author", self.root / name, "--shard", "1/2", "--write-only", "-o", out)
        return 1 if (out / name).exists() else 2

    def test_outputs_without_a_chain_are_put_together(self):
        for index in (1, 2):
            self.passnet_ok("author", self.list, "--shard", f"{index}/2", "--write-only", "-o", self.root / f"part{index}")
        (told,) = self.json_of("merge", self.root / "part1", self.root / "part2", "-o", self.out)
        self.assertEqual((told["directories"], told["left_out"]), (2, []))
        self.assertEqual(sorted(path.name for path in self.out.iterdir()), NAMES)

    def test_a_queue_is_worked_through_and_merged(self):
        queue = self.root / "queue"
        command = ("--command", " ".join(map(str, ("eval", "--sides", "eager", *QUICK))))
        self.list.write_text(f"{self.root / NAMES[0]}\n{self.root / NAMES[1]}\n")
        self.assertEqual(self.json_of("queue", "add", queue, self.list, *command, command="queue add"), {"added": 2, "known": 0})
        self.assertEqual(self.json_of("queue", "add", queue, self.list, *command, command="queue add"), {"added": 0, "known": 2})
        self.assertEqual(self.json_of("queue", "status", queue, command="queue status", code=1)["waiting"], 2)
        self.assertEqual(self.json_of("queue", "drain", queue, command="queue drain"), {"draining": True})
        self.assertEqual(self.json_of("work", queue)["done"], 0)
        self.assertEqual(self.json_of("queue", "retry", queue, command="queue retry"), {"retried": 0})
        self.assertEqual(self.json_of("work", queue), {"done": 2, "failed": 0, "again": 0, "lost": 0})
        self.assertEqual(self.passnet_ok("queue", "status", queue), "2 of 2 done, 0 failed, 0 claimed, 0 waiting\n")
        self.passnet_ok("merge", queue, "-o", self.out)
        self.assertEqual(self.samples_in(self.out), NAMES[:2])
        self.assertEqual(self.passnet_ok("verify", self.out).count("\nok "), 2)

    def test_what_slurm_is_given_is_a_script_that_bash_reads(self):
        plan = self.json_of("submit", "--slurm", "--dry-run", "--tasks", 1200, "--sbatch=--gres=gpu:1", "-o", self.out, "eval", "a b", "--device", "cuda")
        self.assertEqual([re.sub(r"\S*/slurm/", "", line) for line in plan["commands"]],
                         ["sbatch --parsable --array=1-1000 array.sh 0", "sbatch --parsable --array=1-200 array.sh 1000"])
        self.assertIn("'eval' 'a b' '--device' 'cuda' --shard \"$task/1200\"", plan["script"])
        self.assertEqual(subprocess.run(["bash", "-n"], input=plan["script"], text=True, check=False).returncode, 0)

    def with_programs(self, **scripts):
        """An environment whose PATH has these programs first."""
        path = self.root / "programs"
        path.mkdir(exist_ok=True)
        for name, text in scripts.items():
            (path / name).write_text(f"#!/bin/bash\n{text}\n")
            (path / name).chmod(0o755)
        return {**os.environ, "PATH": f"{path}:{os.environ['PATH']}"}

    def test_tasks_are_submitted_followed_and_merged(self):
        """A Slurm that runs all tasks of an array at once, one after the other."""
        slurm = self.with_programs(
            scontrol="echo 'MaxArraySize            = 3'",
            sbatch="for task in $(seq ${2##*[-=]}); do SLURM_ARRAY_TASK_ID=$task bash \"$3\" $4 >&2; done; echo \"1$4;cluster\"",
            squeue="echo 'slurm_load_jobs error: Invalid job id specified' >&2; exit 1")
        command = ("submit", "--slurm", "--tasks", 3, "-o", self.out, "eval", self.list, "--sides", "eager", *QUICK)
        done = self.passnet(*command, env=slurm)
        self.assertEqual((done.returncode, done.stdout), (0, f"4 records of 4 samples in {self.out}/merged\n"), done.stderr)
        self.assertIn("submitted: 10, 12\n", done.stderr)
        self.assertEqual(self.samples_in(self.out / "merged"), NAMES)
        # What is done is not submitted again.
        done = self.passnet(*command, env=slurm)
        self.assertEqual((done.returncode, "submitted" in done.stderr), (0, False))
        (self.out / "slurm" / "2.code").write_text("4\n")
        for program, text, message in (("sbatch", "echo 'sbatch: error: no such partition'; exit 1", "sbatch: exit code 1: 'sbatch: error: no such partition'"),
                                       ("sbatch", "echo 7", "not merged: shards without a result: 2;"),
                                       ("scontrol", "echo no", "'scontrol show config': found 'no', expected MaxArraySize")):
            done = self.passnet(*command, env=self.with_programs(**{program: text}))
            self.assertEqual(done.returncode, 4, done.stderr)
            self.assertIn(message, done.stderr)

    def test_tasks_that_no_node_begins_end_with_their_queue(self):
        """A Slurm that begins the first task of two, until the other is cancelled."""
        pending = self.root / "pending"
        slurm = self.with_programs(
            scontrol="echo 'MaxArraySize            = 3'",
            sbatch=f"SLURM_ARRAY_TASK_ID=1 bash \"$3\" $4 >&2; touch {pending}; echo 17",
            squeue=f"[ -e {pending} ] && echo 'PENDING Resources'; exit 0",
            scancel=f"[ \"$*\" = '--state=PENDING 17' ] && rm {pending}")
        queue = self.root / "queue"
        self.passnet_ok("queue", "add", queue, self.list, "--command", " ".join(map(str, ("eval", "--sides", "eager", *QUICK))))
        done = self.passnet("submit", "--slurm", "--tasks", 2, "-o", self.out, "work", queue, env=slurm)
        self.assertEqual((done.returncode, done.stdout), (0, f"4 records of 4 samples in {self.out}/merged\n"), done.stderr)

    def test_what_is_wrong_is_named(self):
        for arguments, code, message in (
                (("eval", self.list, "--shard", "5/4"), 2, "--shard: found '5/4', expected I/N with I from 1 to N, auto or auto/N"),
                (("work", self.root / "none"), 3, f"no queue.json in '{self.root}/none', expected a queue"),
                (("merge", self.root / "none", "-o", self.out), 3, f"'{self.root}/none' is no directory, expected the --out of a shard, or a queue"),
                (("submit", "-o", self.out, "eval", "x"), 2, "found no --slurm, expected it"),
                (("submit", "--slurm", "-o", self.out), 2, "found no command, expected one of passnet"),
                (("submit", "--slurm", "-o", self.out, "work"), 2, "work: found no QUEUE, expected one"),
                (("queue", "add", self.root / "q", self.list, "--command", " "), 2, "--command: found no word, expected a command of passnet")):
            with self.subTest(arguments=arguments):
                done = self.passnet(*arguments)
                self.assertEqual(done.returncode, code, done.stderr)
                self.assertIn(message, done.stderr)
        self.passnet_ok("queue", "add", self.root / "new", self.list)
        done = self.passnet("merge", self.root / "new", "-o", self.out)
        self.assertEqual(done.returncode, 3)
        self.assertIn("found no finished item in the queue, expected one or more", done.stderr)
        path = self.root / "bin"
        path.mkdir()
        done = self.passnet("submit", "--slurm", "-o", self.out, "eval", "x", env={"PATH": str(path), "HOME": os.environ.get("HOME", "/")})
        self.assertEqual(done.returncode, 4, done.stderr)
        self.assertIn("found no 'scontrol', expected Slurm's commands in PATH", done.stderr)


if __name__ == "__main__":
    unittest.main()
