"""The shipped samples: right on all their graphs, and checked by an installed copy that is run from elsewhere."""

import os
import pathlib
import re
import subprocess
import unittest

from passnet_case import PassnetCase, take_one_processor

take_one_processor()

SOURCE = pathlib.Path(os.environ["PASSNET_SOURCE_DIR"])


class Samples(PassnetCase):
    def test_installed_copy_runs_from_anywhere(self):
        prefix = self.root / "installed"
        install = ["cmake", "--install", os.environ["PASSNET_BINARY_DIR"], "--prefix", str(prefix)]
        subprocess.run(install, check=True, stdout=subprocess.DEVNULL)
        sample = prefix / "share" / "passnet" / "samples" / "phi3_swiglu"
        done = subprocess.run([prefix / "bin" / "passnet", "pass", "check", sample], capture_output=True, text=True, cwd="/",
                              timeout=240)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual(done.stdout.count("correct, 1 site replaced"), len((sample / "graph_list.txt").read_text().split()))

    def test_every_shipped_sample_is_right_everywhere(self):
        samples = sorted(path for path in (SOURCE / "samples").iterdir() if path.is_dir())
        done = self.passnet("pass", "check", *samples)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        for sample in samples:
            graphs = len((sample / "graph_list.txt").read_text().split())
            self.assertEqual(len(re.findall(rf"(?m)^{sample.name}/.*: correct, 1 site replaced", done.stdout)), graphs, sample.name)


if __name__ == "__main__":
    unittest.main()
