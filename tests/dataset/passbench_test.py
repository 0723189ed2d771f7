"""PassBench-C as it is shipped: complete, readable, and every task loads in PyTorch and agrees with it."""

import collections
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

from tiers import FULL, each_nth, in_turn

SOURCE = pathlib.Path(os.environ["PASSNET_SOURCE_DIR"])

BINARIES = pathlib.Path(os.environ["PASSNET_BINARY_DIR"]) / "bin"
TASKS = 200


class Unpacked(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        directory = tempfile.TemporaryDirectory()
        cls.addClassCleanup(directory.cleanup)
        subprocess.run([SOURCE / "scripts/passbench", "unpack", directory.name], check=True)
        cls.root = pathlib.Path(directory.name) / "passbench_c"
        cls.samples = [cls.root / "lists" / line for line in (cls.root / "lists/all.txt").read_text().split()]


class Tasks(Unpacked):
    def test_it_has_its_tasks_with_several_shapes_and_element_types(self):
        self.assertEqual(len(set(self.samples)), TASKS)
        for sample in self.samples:
            names = (sample / "graph_list.txt").read_text().split()
            shapes = collections.defaultdict(set)
            for name in names:
                shape, dtype = name.split("_")
                shapes[shape].add(dtype)
                self.assertTrue((sample / "graphs" / name / "model.py").exists())
            self.assertGreaterEqual(len(shapes), 3, sample)
            self.assertGreaterEqual(sum(len(dtypes) for dtypes in shapes.values()), 9, sample)

    def test_tasks_are_called_by_their_operators_and_known_by_their_hash(self):
        reports = [json.loads(line) for line in (self.root / "samples.jsonl").read_text().splitlines()]
        for report in reports:
            self.assertRegex(report["path"], r"^samples/[A-Za-z]\w{1,50}_" + report["sample"][:8] + "$")
        paths = {report["path"] for report in reports}
        self.assertEqual(len(paths), TASKS)
        self.assertEqual(paths, {f"samples/{path.name}" for path in (self.root / "samples").iterdir()})
        self.assertEqual({f"../{path}" for path in paths}, set((self.root / "lists/all.txt").read_text().split()))

    def test_no_two_tasks_are_of_one_operator_sequence(self):
        reports = [json.loads(line) for line in (self.root / "samples.jsonl").read_text().splitlines()]
        self.assertEqual(len({tuple(report["ops"]) for report in reports}), TASKS)

    def test_every_graph_reads_back_and_has_its_hash(self):
        done = subprocess.run([BINARIES / "passnet", "graph", "check", "--json", self.root], capture_output=True, text=True, timeout=300)
        self.assertEqual(done.returncode, 0, done.stderr)
        summary = json.loads(done.stdout)
        self.assertEqual((summary["hash_different"], summary["hash_absent"], summary["failed"]), (0, 0, []))

    def test_tasks_can_be_evaluated(self):
        out = self.root / "run"
        done = subprocess.run([BINARIES / "passnet", "eval", *self.samples[:2], "--sides", "eager", "--trials", "2", "--warmup", "0", "--threads", "1", "--out", out],
                              capture_output=True, text=True, timeout=300)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        records = [json.loads(line) for file in out.rglob("records.jsonl") for line in file.read_text().splitlines()]
        self.assertEqual([record["error"] for record in records if record["stage"] != "done"], [])
        self.assertGreaterEqual(len(records), 12)


class AgainstPyTorch(Unpacked):
    def test_every_task_agrees_with_pytorch(self):
        """Quick tier: each other task at one of its element types, in turn by its place in the list, and at the first shape of
        that type. Full tier: all graphs of all tasks."""
        root = self.root
        if not FULL:
            root = self.root / "in_turn"
            for turn, sample in enumerate(each_nth(self.samples, 2)):
                first = {}
                for name in (sample / "graph_list.txt").read_text().split():
                    first.setdefault(name.split("_")[1], name)
                (name,) = in_turn(sorted(first.values(), key=lambda name: name.split("_")[1]), turn)
                shutil.copytree(sample / "graphs" / name, root / sample.name / name)
            self.addCleanup(shutil.rmtree, root)
        parity = [sys.executable, SOURCE / "tests/runtime/parity.py", root, "--threshold", "100"]
        done = subprocess.run(parity, capture_output=True, text=True, timeout=7200)
        self.assertEqual(done.returncode, 0, done.stdout[-3000:] + done.stderr[-2000:])


if __name__ == "__main__":
    sys.exit(unittest.main())
