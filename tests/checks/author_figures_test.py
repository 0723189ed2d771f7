"""benchmarks/author_figures.py: the table of what `passnet author` came to, from its reports and a comparison."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(os.environ["PASSNET_SOURCE_DIR"]) / "benchmarks" / "author_figures.py"
TRACK = "host clock, same tensors, warm cache"


def side(microseconds):
    return {"medians_us": [microseconds], "mode": ""}


def figures(comparison, records):
    """The script's rows for one sample `a` that has a pass: measured, by figure."""
    with tempfile.TemporaryDirectory() as directory:
        root = pathlib.Path(directory)
        sample = root / "authored" / "a"
        sample.mkdir(parents=True)
        report = {"passes": [{"kept": True}], "score": 2.0, "counts": True, "seconds": 3.0, "precision": {"larger": 1, "graphs": 2}}
        (sample / "author.json").write_text(json.dumps(report))
        (sample / "records.jsonl").write_text("".join(json.dumps(one) + "\n" for one in records))
        against = root / "against.json"
        against.write_text(json.dumps({"tracks": [TRACK], "summary": [], **comparison}))
        done = subprocess.run([sys.executable, SCRIPT, root / "authored", against], capture_output=True, text=True, check=True)
    rows = [line.split("|") for line in done.stdout.splitlines() if line.count("|") == 5][2:]
    return {row[1].strip(): row[2].strip() for row in rows}


class AuthorFiguresTests(unittest.TestCase):
    # Four times as fast as PyTorch, and equal from t = -6 on: what is below counts as wrong.
    RECORD = {"graph": "g", "outputs": [{"passes_from": -6}]}
    AGGREGATED = f"aggregated score over PyTorch eager from Python, 1 graphs, {TRACK}"

    def line(self, graph):
        return {"graph": graph, "PyTorch eager": side(8.0), "our eager": side(4.0), "our passes": side(2.0)}

    def test_reports_of_samples(self):
        found = figures({}, [])
        self.assertEqual(found["samples without a pass"], "0.00 %")
        self.assertEqual(found["score over our eager, geometric mean of 1 samples"], "2.00 x")
        self.assertEqual(found["seconds for a sample"], "3.00 s")
        self.assertEqual(found["graphs whose error is larger than PyTorch's own"], "50.00 %")
        self.assertNotIn(self.AGGREGATED, found)

    def test_score_of_a_sample(self):
        self.assertEqual(figures({"samples": [self.line("a/g")]}, [self.RECORD])[self.AGGREGATED], "3.65 x")

    def test_score_of_a_graph_of_a_corpus(self):
        self.assertEqual(figures({"corpus": [self.line("a")]}, [self.RECORD])[self.AGGREGATED], "3.65 x")


if __name__ == "__main__":
    unittest.main()
