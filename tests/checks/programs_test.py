"""Who builds `passnet` and `passnet-worker`, as `make demo` and `make build` do, gets the programs that they start."""

import os
import pathlib
import shutil
import subprocess
import sys
import unittest

BUILD = pathlib.Path(os.environ["PASSNET_BINARY_DIR"])
NINJA = shutil.which("ninja")
STARTS = {"passnet": "passnet-nvrtc", "passnet-worker": "passnet-cell"}


class Programs(unittest.TestCase):
    def test_are_built_with_those_that_they_start(self):
        for program, started in STARTS.items():
            with self.subTest(program=program):
                query = subprocess.run([NINJA, "-C", BUILD, "-t", "query", f"bin/{program}"], capture_output=True, text=True, check=True)
                inputs = query.stdout.split("outputs:")[0]
                self.assertIn(f"bin/{started}", inputs)


if __name__ == "__main__":
    if not NINJA or not (BUILD / "build.ninja").exists():
        print("1 checks skipped: the build is not ninja's")
        sys.exit(77)
    unittest.main(verbosity=2)
