"""`make demo` builds what `passnet eval` runs and nothing else; `make build` builds all programs."""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import unittest

BUILD = pathlib.Path(os.environ["PASSNET_BINARY_DIR"])
NINJA = shutil.which("ninja")
DEMO = ("bin/passnet", "bin/passnet-worker")
# Modules that `passnet eval` does without.
OTHERS = ("agent", "author", "cluster", "dataset", "leaderboard", "selftest", "site")
PROGRAMS = {"passnet", "passnet-agent", "passnet-author", "passnet-cell", "passnet-cluster", "passnet-dataset", "passnet-leaderboard", "passnet-nvrtc",
            "passnet-selftest", "passnet-site", "passnet-worker"}


def inputs_of(*targets):
    """All files that ninja makes for the targets."""
    done = subprocess.run([NINJA, "-C", BUILD, "-t", "inputs", *targets], capture_output=True, text=True, check=True)
    return done.stdout.split()


class Programs(unittest.TestCase):
    def test_a_demo_builds_the_cell_and_no_module_that_it_does_without(self):
        inputs = inputs_of(*DEMO)
        self.assertIn("bin/passnet-cell", inputs)
        self.assertEqual([one for one in inputs if re.search(rf"/passnet_({'|'.join(OTHERS)})\b|passnet-(nvrtc|{'|'.join(OTHERS)})\b", one)], [])

    def test_all_programs_are_built_together(self):
        done = subprocess.run([NINJA, "-C", BUILD, "-t", "query", "apps/CMakeFiles/programs"], capture_output=True, text=True, check=True)
        self.assertEqual(set(re.findall(r"^ +bin/(\S+)$", done.stdout, re.MULTILINE)), PROGRAMS)


if __name__ == "__main__":
    if not NINJA or not (BUILD / "build.ninja").exists():
        print("1 checks skipped: the build is not ninja's")
        sys.exit(77)
    unittest.main(verbosity=2)
