"""`passnet author`: what it writes for the shipped samples is right on all their graphs, and it keeps what is faster alone."""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import unittest

SOURCE = pathlib.Path(os.environ["PASSNET_SOURCE_DIR"])
sys.path[:0] = [str(SOURCE / "tests" / "eval")]
from json_schema import problems
from passnet_case import PassnetCase

LIST = "sorted_output_pass_rule_names.json"
SCHEMA = json.loads((SOURCE / "docs" / "schemas" / "author.json").read_text())
SAMPLES = sorted(path for path in (SOURCE / "samples").iterdir() if (path / "graphs").is_dir())


class Author(PassnetCase):
    def author(self, *arguments):
        done = self.passnet("author", *arguments, "-o", self.out, "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        reports = json.loads(done.stdout)
        self.assertEqual(problems(reports, SCHEMA), [])
        return reports

    def test_shipped_samples_are_written_right(self):
        reports = self.author(*SAMPLES, "--write-only")
        self.assertEqual([report["sample"] for report in reports], [sample.name for sample in SAMPLES])
        for sample, report in zip(SAMPLES, reports):
            with self.subTest(sample=sample.name):
                self.assertGreater(len(report["passes"]), 0)
                copy = self.root / sample.name
                shutil.copytree(sample, copy, ignore=shutil.ignore_patterns("pass_dir"))
                shutil.copytree(self.out / sample.name / "pass_dir", copy / "pass_dir")
                done = self.passnet("pass", "check", copy, "--json")
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_keeps_what_is_right_and_faster(self):
        (report,) = self.author(self.sample, "--trials", 10)
        place = self.out / "sample"
        kept = [one["pass"] for one in report["passes"] if one["kept"]]
        self.assertEqual(json.loads((place / "pass_dir" / LIST).read_text()), kept)
        self.assertEqual(sorted(path.stem for path in (place / "pass_dir").glob("*.py")), sorted(kept))
        self.assertGreaterEqual(report["score"], 1)
        self.assertTrue(all(one["why"] for one in report["passes"]))
        self.assertEqual(json.loads((place / "author.json").read_text()), report)
        again = self.passnet("author", self.sample, "-o", self.out, "--resume", "--json")
        self.assertEqual(json.loads(again.stdout), [report])

    def test_leaves_alone_what_it_cannot_write(self):
        sample = self.root / "product"
        shutil.copytree(self.sample / "graphs", sample / "graphs")
        for model in sample.rglob("model.py"):
            model.write_text(model.read_text().replace("in_0 + in_1", "in_0 @ in_1.T"))
        reports = self.author(sample, "--write-only")
        self.assertIn("no kernel can be written for 'matmul'", [left["why"] for left in reports[0]["left"]])


if __name__ == "__main__":
    unittest.main(verbosity=2)
