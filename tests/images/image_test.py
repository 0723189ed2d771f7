"""scripts/image: the image for the CPU on two versions of Debian evaluates a shipped sample as an ordinary user without network."""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import unittest

from tiers import FULL

SOURCE = pathlib.Path(os.environ["PASSNET_SOURCE_DIR"])

MOST_MB = 900
SUITES = ("bookworm", "trixie")
SAMPLE = "/opt/passnet/passnet/share/passnet/samples/gpt2_gelu"


class Image(unittest.TestCase):
    def build(self, suite):
        """Returns a container of the image, and its size in MB."""
        name = f"passnet-test:{suite}"
        done = subprocess.run([SOURCE / "scripts/image", "--suite", suite, name], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr[-4000:])
        container = subprocess.run(["buildah", "from", "--pull=never", f"localhost/{name}"], check=True, capture_output=True, text=True).stdout.strip()
        self.addCleanup(subprocess.run, ["buildah", "rmi", f"localhost/{name}"], capture_output=True)
        self.addCleanup(subprocess.run, ["buildah", "rm", container], capture_output=True)
        return container, int(done.stdout.split()[-2])

    def run_in(self, container, *command):
        return subprocess.run(["unshare", "--net", "buildah", "run", "--isolation", "chroot", container, "--", *command], capture_output=True, text=True)

    def test_evaluates_a_sample_on_each_version_of_debian(self):
        for suite in SUITES:
            with self.subTest(suite):
                container, megabytes = self.build(suite)
                self.assertLess(megabytes, MOST_MB)
                self.assertEqual(self.run_in(container, "id", "-un").stdout, "passnet\n")
                done = self.run_in(container, "passnet", "eval", SAMPLE, "--trials", "10", "--out", "run", "--json")
                told = json.loads(done.stdout)
                self.assertEqual([graph["problem"] for graph in told["graphs"] if not graph["correct"]], [], done.stderr)
                done = self.run_in(container, "passnet", "doctor", "--json")
                sandbox = next(one for one in json.loads(done.stdout)["findings"] if one["topic"] == "sandbox")
                print(f"{suite}: {megabytes} MB; {sandbox['found']}")
                self.assertRegex(sandbox["found"], "no new privileges; seccomp filter")


if __name__ == "__main__":
    if not FULL or os.geteuid() != 0 or not all(map(shutil.which, ("buildah", "mmdebstrap"))) or not list((SOURCE / "dist").glob("*.whl")):
        print(f"{len(SUITES)} checks skipped: they need PASSNET_FULL=1, root, buildah, mmdebstrap and the wheel of make wheel")
        sys.exit(77)
    unittest.main(verbosity=2)
