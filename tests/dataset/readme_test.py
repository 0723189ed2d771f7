"""The README's commands that make a dataset, run as they stand there."""

import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(os.environ["PASSNET_SOURCE_DIR"])
BINARIES = pathlib.Path(os.environ["PASSNET_BINARY_DIR"]) / "bin"


class ReadmeCommands(unittest.TestCase):
    def test_they_make_a_dataset(self):
        section = (SOURCE / "README.md").read_text().split("## A dataset of your own")[1]
        commands = re.search(r"```sh\n(.*?)```", section, re.S)[1]
        self.assertGreaterEqual(commands.count("passnet dataset"), 5)
        environment = {**os.environ, "PATH": f"{BINARIES}:{os.environ['PATH']}", "PASSNET_PYTHON": sys.executable}
        with tempfile.TemporaryDirectory() as directory:
            done = subprocess.run(["bash", "-euc", commands], cwd=directory, env=environment, capture_output=True, text=True, timeout=600)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            found = [line for line in done.stdout.splitlines() if line.startswith("samples/")]
            self.assertTrue(found, done.stdout)
            for path in found:
                self.assertIn("batch_norm", (pathlib.Path(directory) / "dataset" / path / "model.py").read_text())


if __name__ == "__main__":
    sys.exit(unittest.main())
