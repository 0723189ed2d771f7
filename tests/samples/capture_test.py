"""python -m passnet_capture samples writes a shipped sample anew, file for file; its errors say what is wrong.

Full tier: a capture into a sample that has passes.
"""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
from importlib.metadata import PackageNotFoundError, version

from tiers import FULL

SOURCE = pathlib.Path(os.environ["PASSNET_SOURCE_DIR"])

SAMPLE = "vit_add_layer_norm"


def recorded(key):
    graph = next(path for path in sorted((SOURCE / "samples" / SAMPLE / "graphs").iterdir()))
    return json.loads((graph / "graph_net.json").read_text())[key]


def skip_unless_same_libraries():
    """Other versions may build or trace a model differently; then there is nothing to compare with."""
    for library, expected in (("torch", recorded("torch_version")), (recorded("source"), recorded("library_version"))):
        try:
            found = version(library).split("+")[0]
        except PackageNotFoundError:
            found = "none"
        if found != expected:
            print(f"1 test skipped: {library}: found {found}, the sample was captured with {expected}")
            sys.exit(77)


def run_capture(*arguments):
    binaries = pathlib.Path(os.environ["PASSNET_BINARY_DIR"]) / "bin"
    environment = {**os.environ, "PYTHONPATH": str(SOURCE / "python"), "PATH": f"{binaries}:{os.environ['PATH']}"}
    return subprocess.run(
        [sys.executable, "-m", "passnet_capture", "samples", *arguments], env=environment, capture_output=True, text=True, timeout=600
    )


STATISTIC = re.compile(r"^    (mean|std) = (\S+)$", re.MULTILINE)


def statistics(text):
    return [float(number) for _, number in STATISTIC.findall(text)]


class Capture(unittest.TestCase):
    def test_capture_writes_the_shipped_files_again(self):
        with tempfile.TemporaryDirectory() as out:
            run = run_capture("--out", out, SAMPLE)
            self.assertEqual(run.returncode, 0, run.stderr)
            self.assertEqual(run.stdout, f"{SAMPLE}: 6 graphs\n")
            shipped, fresh = SOURCE / "samples" / SAMPLE, pathlib.Path(out) / SAMPLE
            files = sorted(path.relative_to(shipped) for path in shipped.rglob("*") if path.is_file())
            files = [path for path in files if path.parts[0] != "pass_dir"]
            self.assertEqual(files, sorted(path.relative_to(fresh) for path in fresh.rglob("*") if path.is_file()))
            for path in files:
                with self.subTest(file=str(path)):
                    self.compare((shipped / path).read_text(), (fresh / path).read_text())

    def compare(self, expected, found):
        # Another processor may round activations differently, which shows in the last digits of their statistics.
        self.assertEqual(STATISTIC.sub("", found), STATISTIC.sub("", expected))
        for e, f in zip(statistics(expected), statistics(found)):
            self.assertAlmostEqual(f, e, delta=1e-3 * max(1.0, abs(e)))

    @unittest.skipUnless(FULL, "full tier")
    def test_passes_and_entry_script_survive(self):
        with tempfile.TemporaryDirectory() as out:
            sample = pathlib.Path(out) / SAMPLE
            (sample / "pass_dir").mkdir(parents=True)
            (sample / "pass_dir" / "mine.py").write_text("mine")
            (sample / "entry.sh").write_text("my own")
            run = run_capture("--out", out, SAMPLE)
            self.assertEqual(run.returncode, 0, run.stderr)
            self.assertEqual((sample / "pass_dir" / "mine.py").read_text(), "mine")
            self.assertEqual((sample / "entry.sh").read_text(), "my own")

    def test_unknown_sample_is_named(self):
        run = run_capture("--out", "/nonexistent", "no_such_sample")
        self.assertEqual(run.returncode, 2)
        self.assertIn("unknown sample 'no_such_sample': expected one of vit_add_layer_norm, ", run.stderr)


if __name__ == "__main__":
    skip_unless_same_libraries()
    unittest.main()
