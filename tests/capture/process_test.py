"""Runs of passnet dataset capture that are killed, interrupted or started twice leave whole graph directories and a journal that can be gone on with."""

import importlib.util
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest

if importlib.util.find_spec("torch") is None:
    print("skipped: no PyTorch in", sys.executable)
    sys.exit(77)

SOURCE = pathlib.Path(os.environ["PASSNET_SOURCE_DIR"])
PASSNET = pathlib.Path(os.environ["PASSNET_BINARY_DIR"]) / "bin" / "passnet"
TOYS = SOURCE / "tests" / "capture" / "toy_models.py"


def wait_for(condition, seconds=60):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise TimeoutError("it did not come to that")
        time.sleep(0.002)


def is_gone(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] in "ZX"
    except FileNotFoundError:
        return True


class Runs(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.out = pathlib.Path(holder.name) / "out"
        self.started = pathlib.Path(holder.name) / "started"

    def start(self, function, *options):
        environment = {**os.environ, "PASSNET_PYTHON": sys.executable, "CAPTURE_TEST_STARTED": str(self.started)}
        command = [PASSNET, "dataset", "capture", "--from", f"{TOYS}:{function}", "--out", str(self.out), *options]
        process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        return process

    def start_sleeping(self):
        process = self.start("sleeping")
        wait_for(lambda: self.started.exists() and self.started.read_text())
        return process, int(self.started.read_text())

    def assert_second_run_is_refused(self):
        second = self.start("plain")
        _, errors = second.communicate(timeout=60)
        self.assertEqual(second.returncode, 4)
        self.assertIn(f"'{self.out}/journal.jsonl' is being written by another run\nhint: wait for it", errors)

    def entries(self):
        return [json.loads(line) for line in (self.out / "journal.jsonl").read_text().splitlines()]

    def test_interrupt_kills_the_child_and_leaves_nothing_half_written(self):
        process, child = self.start_sleeping()
        process.send_signal(signal.SIGTERM)
        _, errors = process.communicate(timeout=30)
        self.assertEqual(process.returncode, 130, errors)
        self.assertEqual(errors, f"interrupted: what is finished is kept in '{self.out}'; go on with --resume\n")
        wait_for(lambda: is_gone(child))
        self.assertEqual([path.name for path in self.out.iterdir()], ["journal.jsonl"])
        self.assertEqual(self.entries(), [])

    def test_worker_that_is_killed_is_a_crash_and_takes_its_child_along(self):
        process, child = self.start_sleeping()
        self.assert_second_run_is_refused()
        worker = int(pathlib.Path(f"/proc/{child}/stat").read_text().rpartition(")")[2].split()[1])
        os.kill(worker, signal.SIGKILL)
        output, errors = process.communicate(timeout=30)
        self.assertEqual(process.returncode, 1, errors)
        wait_for(lambda: is_gone(child))
        self.assertIn("captured: 0 of 1 models, 0 graphs\ncrash: 1 (the process died)\n", output)
        self.assertEqual(errors, "toy_models:sleeping: crash: the capture worker was ended by the machine during 'capture': killed by SIGKILL (killed from outside)\n")

    def test_kill_while_graphs_are_written_leaves_no_half_written_directory_and_no_child(self):
        process = self.start("many_shapes")
        wait_for(lambda: any(self.out.glob(".partial/*/model/b*/model.py")))
        child = int(self.started.read_text())
        process.kill()
        process.wait()
        wait_for(lambda: is_gone(child))
        graphs = [path.parent for path in self.out.glob("file/*/*/model.py")]
        for graph in graphs:
            self.assertTrue((graph / "graph_net.json").exists(), graph)
        self.assertIn(len(graphs), (0, 8))
        with open(self.out / "journal.jsonl", "ab") as journal:
            journal.write(b'{"model": "toy_mod')

        again = self.start("many_shapes", "--resume")
        _, errors = again.communicate(timeout=120)
        self.assertEqual(again.returncode, 0, errors)
        self.assertEqual(sorted(path.name for path in self.out.iterdir()), ["file", "journal.jsonl"])
        self.assertEqual([len(entry["graphs"]) for entry in self.entries()], [8])


if __name__ == "__main__":
    unittest.main()
