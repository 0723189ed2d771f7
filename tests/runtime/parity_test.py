"""`make parity`: its verdicts, what it does when a side is lost, and how it goes on after an interrupt."""
import contextlib
import io
import json
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import torch

import agreement  # noqa: E402
import parity  # noqa: E402

from tiers import full_tier

MANY = 150  # graphs, so that an interrupt comes before the last
MODEL = "import torch\n\nclass GraphModule(torch.nn.Module):\n\n    def forward(self, x):\n{body}\n"
META = 'class M:\n    name = "x"\n    shape = [2, 3]\n    dtype = "torch.float32"\n    mean = 0.0\n    std = 1.0\n'


class ParityCase(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.root = pathlib.Path(directory.name)
        self.json = self.root / "rows.jsonl"

    def graph(self, name, *lines):
        (self.root / name).mkdir()
        (self.root / name / "model.py").write_text(MODEL.format(body="\n".join("        " + line for line in lines)))
        (self.root / name / "weight_meta.py").write_text(META)

    def run_parity(self, *options):
        """(exit code, what it printed, the rows by graph)."""
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            code = parity.main([str(self.root), "--threads", "1", "--json", str(self.json), *options])
        rows = [json.loads(line) for line in self.json.read_text().splitlines()] if self.json.exists() else []
        return code, out.getvalue(), {row["name"]: row for row in rows}


class ParityTest(ParityCase):
    def test_gives_each_graph_a_verdict(self):
        self.graph("equal", "z = x + 1", "n = x.size(0)", "return (z, n)")
        self.graph("in_place", "x += 1", "z = x", "return (z,)")
        self.graph("random", "z = torch.nn.functional.dropout(x, 0.5, True)", "return (z,)")
        self.graph("refused", "z = torch.no_such_function(x)", "return (z,)")
        self.graph("pytorch", "z = torch.nn.functional.batch_norm(x[slice(0, 1, None)], None, None, None, None, True, 0.1, 1e-5)",
                   "return (z,)")
        self.graph("waived", "m = x[0]", "v = m.abs() + 1", "z = torch.nn.functional.batch_norm(x, m, v, None, None, False, 0.1, 0.0)",
                   "return (z,)")
        self.graph("neither", "z = x.view(4)", "return (z,)")
        code, printed, rows = self.run_parity()
        self.assertEqual(code, 1)
        self.assertEqual({name: row["verdict"] for name, row in rows.items()},
                         {"equal": "equal", "in_place": "equal", "random": "equal", "refused": "refused", "pytorch": "pytorch",
                          "waived": "equal", "neither": "neither"})
        self.assertIn("unknown operator 'torch.no_such_function'", rows["refused"]["detail"])
        self.assertIn("run by torch.batch_norm", rows["waived"]["waived"])
        self.assertIn("66.67 % of 6 agree with PyTorch, expected at least 99 %; 1 run on neither side", printed)
        self.assertEqual(self.run_parity("--threshold", "60")[0], 0)

    def test_leaves_out_what_is_too_large_and_takes_each_nth(self):
        for name in "abcd":
            self.graph(name, "z = x + 1", "return (z,)")
        self.assertEqual(set(self.run_parity("--every", "2")[2]), {"a", "c"})
        code, printed, _ = self.run_parity("--max-elements", "5")
        self.assertEqual(code, 77)
        self.assertIn("4 of 4 graphs are left out: more than 5 input elements", printed)

    def test_counts_a_lost_side_and_goes_on(self):
        self.graph("a", "z = x + 1", "return (z,)")
        self.graph("b", "z = x + 2", "return (z,)")
        rows = self.run_parity("--worker", "/bin/false")[2]
        self.assertEqual([row["verdict"] for row in rows.values()], ["crash", "crash"])
        rows = self.run_parity("--timeout", "0.01")[2]
        self.assertEqual([row["verdict"] for row in rows.values()], ["timeout", "timeout"])

    @full_tier
    def test_goes_on_where_it_was_interrupted(self):
        for i in range(MANY):
            self.graph(f"{i:03}", "z = x + 1", "return (z,)")
        command = [sys.executable, parity.__file__, str(self.root), "--json", str(self.json), "--threads", "1"]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        while not self.json.exists() or self.json.read_text().count("\n") < 3:
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        printed, _ = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130)
        done = self.json.read_text().count("\n")
        self.assertLess(done, MANY)
        self.assertIn(f"interrupted after {done} of {MANY} graphs; --resume", printed)
        code, printed, rows = self.run_parity("--resume", "--jobs", "2")
        self.assertEqual((code, len(rows)), (0, MANY))
        self.assertEqual(printed.count("equal  "), MANY - done)


class AgreementTest(unittest.TestCase):
    def verdict(self, expected, found):
        return agreement.difference(torch.as_tensor(expected), torch.as_tensor(found))[0]

    def test_tells_equal_close_and_different(self):
        self.assertEqual(self.verdict([1.0, float("nan")], [1.0, float("nan")]), "equal")
        self.assertEqual(self.verdict([0.0], [-0.0]), "equal")
        self.assertEqual(self.verdict([1.0], [1.0 + 1e-5]), "close")
        self.assertEqual(self.verdict([1.0], [1.0 + 2e-5]), "differs")
        self.assertEqual(self.verdict([float("inf")], [float("-inf")]), "differs")
        self.assertEqual(self.verdict([float("inf")], [3e38]), "differs")
        self.assertEqual(self.verdict([1.0], [float("nan")]), "differs")
        self.assertEqual(self.verdict([1, 2], [1, 3]), "differs")
        self.assertEqual(self.verdict([[1.0]], [1.0]), "differs")
        self.assertEqual(self.verdict([1.0], torch.tensor([1.0], dtype=torch.float64)), "differs")
        self.assertEqual(self.verdict(torch.tensor([1 + 1j]), torch.tensor([1 + 1.000001j])), "close")

    def test_compares_big_tensors_piece_by_piece(self):
        big = torch.zeros(agreement.CHUNK + 10)
        other = big.clone()
        other[-1] = 1
        self.assertEqual(agreement.difference(big, other), ("differs", 1.0, f"1 of {big.numel()} elements beyond t = -5, largest difference 1"))


if __name__ == "__main__":
    unittest.main(verbosity=2)
