"""`passnet graph check|stats|hash|dot` as a user runs them: over samples, bad graphs, many graphs, and Ctrl-C."""

import json
import os
import pathlib
import re
import resource
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

SOURCE = pathlib.Path(os.environ["PASSNET_SOURCE_DIR"])
BINARY = pathlib.Path(os.environ["PASSNET_BINARY_DIR"]) / "bin" / "passnet"
GRAPH = SOURCE / "samples" / "gpt2_gelu" / "graphs" / "b1_s16_float32"


def graph(*arguments):
    return subprocess.run([BINARY, "graph", *map(str, arguments)], capture_output=True, text=True, timeout=120, stdin=subprocess.DEVNULL)


class GraphCommands(unittest.TestCase):
    def setUp(self):
        self.root = pathlib.Path(tempfile.mkdtemp(prefix="passnet-graph-"))
        self.addCleanup(shutil.rmtree, self.root, ignore_errors=True)

    def copies(self, count):
        for i in range(count):
            directory = self.root / f"{i:05}"
            directory.mkdir()
            for name in ("model.py", "weight_meta.py", "graph_hash.txt"):
                os.link(self.original / name, directory / name)

    @property
    def original(self):
        path = self.root.parent / (self.root.name + "-original")
        if not path.exists():
            shutil.copytree(GRAPH, path)
            self.addCleanup(shutil.rmtree, path, ignore_errors=True)
        return path

    def test_check_accepts_every_shipped_graph(self):
        done = graph("check", "--json", SOURCE / "samples")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        report = json.loads(done.stdout)
        count = sum(1 for _ in (SOURCE / "samples").glob("*/graphs/*/model.py"))
        self.assertEqual((report["graphs"], report["parsed"], report["roundtrip"], report["hash_equal"]), (count,) * 4)
        self.assertEqual(report["failed"], [])

    def test_bad_graphs_are_listed_in_order_and_the_others_counted(self):
        self.copies(3)
        (self.root / "00001" / "model.py").unlink()
        os.mkfifo(self.root / "00001" / "model.py")
        (self.root / "loop").symlink_to("loop")
        done = graph("check", "--json", self.root, self.root / "loop")
        self.assertEqual(done.returncode, 3)
        report = json.loads(done.stdout)
        self.assertEqual((report["graphs"], report["parsed"], report["roundtrip"]), (4, 2, 2))
        self.assertEqual([failure["path"] for failure in report["failed"]], [str(self.root / "00001"), str(self.root / "loop")])
        self.assertTrue(report["failed"][0]["error"].endswith("model.py: error: found a pipe, expected a regular file"))
        self.assertIn("Too many levels of symbolic links", report["failed"][1]["error"])
        lines = graph("check", self.root).stdout.splitlines()
        self.assertEqual(lines[0], f"{self.root}/00000: ok, 10 nodes, hash equal (model-text)")
        self.assertIn("found a pipe", lines[1])
        self.assertEqual(lines[-2], "3 graphs, 2 read, 2 printed and read back equal, 1 failed")
        self.assertEqual(lines[-1], "hashes: 2 equal, 0 not reproduced, 0 absent")

    def test_check_streams(self):
        self.copies(150)
        done = graph("check", "--json", *[self.root] * 20)
        self.assertEqual(json.loads(done.stdout)["roundtrip"], 3000)
        # The most that any child so far has taken; in KiB.
        self.assertLess(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, 500 * 1024)

    def bytes_read(self, process):
        return int(re.search(r"rchar: (\d+)", pathlib.Path(f"/proc/{process.pid}/io").read_text())[1])

    def test_interrupt_counts_what_was_done(self):
        self.copies(150)
        process = subprocess.Popen([BINARY, "graph", "check", *[self.root] * 4000, "--json"], stdout=subprocess.PIPE, text=True)
        self.addCleanup(process.kill)
        while process.poll() is None and self.bytes_read(process) < 1 << 20:  # some graphs, of 600,000
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        stdout, _ = process.communicate(timeout=120)
        report = json.loads(stdout)
        self.assertEqual((process.returncode, report["interrupted"]), (130, True))
        self.assertEqual(report["parsed"], report["graphs"])
        self.assertGreater(report["graphs"], 0)
        self.assertLess(report["graphs"], 600000)

    def test_stats_skip_what_cannot_be_read(self):
        self.copies(3)
        (self.root / "00001" / "model.py").unlink()
        (self.root / "00001" / "model.py").write_text("nonsense")
        done = graph("stats", self.root, "--json")
        self.assertEqual(done.returncode, 3)
        self.assertRegex(done.stderr, r"00001/model\.py:1:1: error: ")
        report = json.loads(done.stdout)
        self.assertEqual((report["graphs"], len(report["failed"])), (2, 1))
        self.assertEqual(report["calls"], sum(report["kinds"].values()))
        self.assertAlmostEqual(sum(row["share"] for row in report["operators"]), 1)
        table = graph("stats", GRAPH)
        self.assertEqual(table.returncode, 0)
        self.assertRegex(table.stdout, r"1 graphs, 10 nodes, 1 placeholders, 1 outputs, \d+ calls of \d+ operators\n")
        self.assertRegex(table.stdout, r"\n +4 +\d\d\.\d% +#{20} +1 +operator \*\n")

    def test_hash_prints_and_compares(self):
        hashed = json.loads(graph("hash", "--json", GRAPH).stdout)
        self.assertEqual([row["rule"] for row in hashed], ["model-text"])
        self.assertEqual(hashed[0]["stored"], (GRAPH / "graph_hash.txt").read_text().strip())
        self.assertEqual(graph("hash", GRAPH).stdout, f"{hashed[0]['hash']}  {GRAPH}\n")
        self.copies(1)
        (self.root / "00000" / "graph_hash.txt").unlink()
        (self.root / "00000" / "graph_hash.txt").write_text(hashed[0]["hash"])
        self.assertEqual(json.loads(graph("hash", "--json", self.root).stdout)[0]["rule"], "graph")

    def test_dot_draws(self):
        done = graph("dot", GRAPH)
        self.assertEqual(done.returncode, 0)
        self.assertEqual(len(re.findall(r"^  n\d+ \[", done.stdout, re.M)), 10)
        if shutil.which("dot"):
            drawn = subprocess.run(["dot", "-Tsvg"], input=done.stdout, capture_output=True, text=True)
            self.assertEqual((drawn.returncode, drawn.stderr), (0, ""))
            self.assertIn("<svg", drawn.stdout)
        self.assertEqual(graph("dot", self.root / "none").returncode, 3)


if __name__ == "__main__":
    unittest.main()
