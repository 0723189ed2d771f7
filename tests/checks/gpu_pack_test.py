"""scripts/gpu pack: one archive with what a machine lacks that has PyTorch and a compiler only. In the full tier: a minute."""

import os
import pathlib
import shutil
import subprocess
import tarfile
import tempfile
import unittest

from tiers import FULL

SOURCE, BUILD = pathlib.Path(os.environ["PASSNET_SOURCE_DIR"]), pathlib.Path(os.environ["PASSNET_BINARY_DIR"])


def tree(directory):
    """A tree with what pack reads, so that a .gpu of the checkout is left alone."""
    root = pathlib.Path(directory)
    (root / "scripts").mkdir()
    shutil.copy(SOURCE / "scripts" / "gpu", root / "scripts" / "gpu")
    for name in ("src", "include", "apps"):
        (root / name).symlink_to(SOURCE / name)
    return root


def pack(root, build):
    command = [root / "scripts" / "gpu", "pack", build, "no-corpus", "no-official", "no-submissions"]
    return subprocess.run(command, capture_output=True, text=True, env={**os.environ, "PIP_NO_INDEX": "1"})


class GpuPackTests(unittest.TestCase):
    @unittest.skipUnless(FULL, "the full tier packs all programs")
    def test_archive(self):
        with tempfile.TemporaryDirectory() as directory:
            root = tree(directory)
            done = pack(root, BUILD)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual([path.name for path in (root / ".gpu").iterdir()], ["pack.tar.gz"])
            with tarfile.open(root / ".gpu" / "pack.tar.gz") as archive:
                names = archive.getnames()
        for name in ("bin/passnet-worker", "torch_lib", "include/nlohmann/json.hpp", "include/tl/expected.hpp", "python/needed", "python/passnet/backend.py",
                     "python/libpassnet_in_process.a", "python/libpassnet_runtime.a"):  # fmt: skip
            self.assertIn(name, names)

    def test_a_step_that_fails_is_named(self):
        with tempfile.TemporaryDirectory() as directory:
            done = pack(tree(directory), pathlib.Path(directory) / "no-build")
            self.assertNotEqual(done.returncode, 0)
            self.assertRegex(done.stderr, r"scripts/gpu: error: line \d+ ended with \d+: strip ")


if __name__ == "__main__":
    unittest.main()
