"""`passnet author`: what it writes for the shipped samples is right on all their graphs.

Quick tier: on each fourth graph, from another one on in each sample, which takes in all element types.
"""

import concurrent.futures
import shutil
import unittest

from author_case import SOURCE, AuthorCase
from passnet_case import take_one_processor
from tiers import each_nth

take_one_processor()

SAMPLES = sorted(path for path in (SOURCE / "samples").iterdir() if (path / "graphs").is_dir())


class Samples(AuthorCase):
    def write_and_check(self, samples):
        """Writes the passes of some samples, and checks them; returns the reports and what the check says."""
        out = self.root / f"from_{samples[0].name}"
        reports = self.author(*samples, "--write-only", out=out)
        self.assertEqual([report["sample"] for report in reports], [sample.name for sample in samples])
        copies = []
        for turn, sample in enumerate(samples):
            copies.append(self.root / sample.name)
            shutil.copytree(sample, copies[-1], ignore=shutil.ignore_patterns("pass_dir"))
            shutil.copytree(out / sample.name / "pass_dir", copies[-1] / "pass_dir")
            graphs = copies[-1] / "graph_list.txt"
            graphs.write_text("".join(f"{line}\n" for line in each_nth(graphs.read_text().splitlines(), 4, turn)))
        return reports, self.passnet("pass", "check", *copies, "--json")

    def test_shipped_samples_are_written_right(self):
        # Two halves at once: nothing is timed.
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            halves = list(pool.map(self.write_and_check, (SAMPLES[::2], SAMPLES[1::2])))
        self.assertEqual(sum(len(reports) for reports, _ in halves), len(SAMPLES))
        for reports, checked in halves:
            for report in reports:
                with self.subTest(sample=report["sample"]):
                    self.assertGreater(len(report["passes"]), 0)
            self.assertEqual(checked.returncode, 0, checked.stdout + checked.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
