"""`passnet author` on a graph of many operators: by parts, each once. Nothing here is about measured times."""

import json
import signal
import subprocess
import time
import unittest

from author_case import LIST, AuthorCase
from passnet_case import BINARY, QUICK, take_one_processor

take_one_processor()

HEAD = "import torch\n\nclass GraphModule(torch.nn.Module):\n\n    def forward(self, in_0, in_1):\n"
LAYERS = 14


def model():
    """Equal layers of two parts, clamp(x + y) and 0.9 * sigmoid(x), between scans that no pass is written for."""
    lines, last = ["s = torch.cumprod(in_0, 1)"], "s"
    for i in range(LAYERS):
        lines += [f"a_{i} = {last} + in_1", f"b_{i} = torch.clamp(a_{i}, 0.0, 1.0)", f"c_{i} = torch.cumprod(b_{i}, 1)",
                  f"d_{i} = torch.sigmoid(c_{i})", f"e_{i} = d_{i} * 0.9", f"f_{i} = torch.cumprod(e_{i}, 1)"]  # fmt: skip
        last = f"f_{i}"
    return HEAD + "".join(f"        {line}\n" for line in [*lines, f"return ({last},)"])


def is_settled(report):
    """Busy machines leave parts undecided, which are judged again."""
    return not report["unmeasured"] and not report["budget"]["ended"]


class Whole(AuthorCase):
    def setUp(self):
        super().setUp()
        for file in self.sample.rglob("model.py"):
            file.write_text(model())
        self.reports = self.out / "sample" / "by_part"

    def test_writes_equal_layers_once_and_goes_on_after_an_interrupt(self):
        command = [str(BINARY), "author", str(self.sample), "-o", str(self.out), *map(str, QUICK)]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, stdin=subprocess.DEVNULL)
        self.addCleanup(process.kill)
        deadline = time.monotonic() + 100
        while process.poll() is None and not list(self.reports.glob("*/author.json")):
            self.assertLess(time.monotonic(), deadline, "no part was finished")
            time.sleep(0.02)
        process.send_signal(signal.SIGTERM)
        said = process.communicate(timeout=60)[1]
        self.assertEqual(process.returncode, 130, said)
        finished = {file: file.stat().st_mtime_ns for file in self.reports.glob("*/author.json") if is_settled(json.loads(file.read_text()))}
        (report,) = self.author(self.sample, "--resume", *QUICK)
        self.assertEqual({(one["places"], one["graphs"]) for one in report["parts"]}, {(LAYERS, 1)})
        self.assertEqual(len(report["parts"]), 2)
        self.assertEqual({left["why"] for left in report["left"]}, {"no kernel can be written for 'cumprod'"})
        self.assertEqual(len(report["left"]), 2 * LAYERS + 1)
        self.assertEqual({file: file.stat().st_mtime_ns for file in finished}, finished)
        kept = [one["pass"] for one in report["passes"] if one["kept"]]
        self.assertCountEqual(json.loads((self.out / "sample" / "pass_dir" / LIST).read_text()), kept)
        records = (self.out / "sample" / "records.jsonl").read_text().splitlines()
        self.assertEqual(len(records), 1 if kept else 0)

    def test_a_budget_that_is_used_up_says_how_long_it_might_have_been(self):
        done = self.passnet("author", self.sample, "-o", self.out, "--time-limit", "0.000001")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stderr, rf"sample: 1 of 2 parts, at most 0 s; \w+, in {LAYERS} places: nothing kept\n")
        self.assertIn(f"  2 parts in {2 * LAYERS} places, ", done.stdout)
        self.assertIn(f"  left: {2 * LAYERS + 1} operators: no kernel can be written for 'cumprod'\n", done.stdout)
        self.assertIn("the budget of 1e-06 s ended the search\n", done.stdout)

    def test_writes_a_large_graph_in_one_piece_where_nothing_is_judged(self):
        (report,) = self.author(self.sample, "--write-only")
        self.assertEqual((report["form"], len(report["passes"]), report["parts"]), ("without products", 2, []))


if __name__ == "__main__":
    unittest.main()
