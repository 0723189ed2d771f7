"""scripts/image: the images for the CPU evaluate a shipped sample, as an ordinary user without network, on two versions of Debian;
that for NVIDIA compiles a pass for a GPU that is not there. Usage: image_test.py bookworm|trixie|nvidia
"""

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
SAMPLES = "/opt/passnet/passnet/share/passnet/samples"


class Image(unittest.TestCase):
    def build(self, name, *options):
        """Sets the container of the image, and its size."""
        done = subprocess.run([SOURCE / "scripts/image", *options, name], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr[-4000:])
        self.addCleanup(subprocess.run, ["buildah", "rmi", f"localhost/{name}"], capture_output=True)
        self.megabytes = int(done.stdout.split()[-2])
        self.container = subprocess.run(["buildah", "from", "--pull=never", f"localhost/{name}"], check=True, capture_output=True, text=True).stdout.strip()
        self.addCleanup(subprocess.run, ["buildah", "rm", self.container], capture_output=True)
        self.assertEqual(self.run_in("id", "-un").stdout, "passnet\n")

    def run_in(self, *command):
        return subprocess.run(["unshare", "--net", "buildah", "run", "--isolation", "chroot", self.container, "--", *command], capture_output=True, text=True)

    def found_by_doctor(self, topic):
        findings = json.loads(self.run_in("passnet", "doctor", "--json").stdout)["findings"]
        return next(one["found"] for one in findings if one["topic"] == topic)

    def evaluate_a_sample(self, suite):
        self.build(f"passnet-test:{suite}", "--suite", suite)
        self.assertLess(self.megabytes, MOST_MB)
        done = self.run_in("passnet", "eval", f"{SAMPLES}/gpt2_gelu", "--trials", "10", "--out", "run", "--json")
        told = json.loads(done.stdout)
        self.assertEqual([graph["problem"] for graph in told["graphs"] if not graph["correct"]], [], done.stderr)
        sandbox = self.found_by_doctor("sandbox")
        print(f"{suite}: {self.megabytes} MB; {sandbox}")
        self.assertRegex(sandbox, "no new privileges; seccomp filter")

    def test_bookworm(self):
        self.evaluate_a_sample("bookworm")

    def test_trixie(self):
        self.evaluate_a_sample("trixie")

    def test_nvidia(self):
        self.build("passnet-nvidia-test:bookworm", "--nvidia")
        done = self.run_in("passnet", "pass", "build", f"{SAMPLES}/gpt2_gelu", "--device", "sm_90", "--json")
        self.assertEqual([graph["problem"] for graph in json.loads(done.stdout)["graphs"] if "problem" in graph], [], done.stderr)
        done = self.run_in("python3", "-c", "import numpy, torch, passnet; print(torch.cuda.is_available(), passnet.load)")
        self.assertRegex(done.stdout, "^False <function load", done.stderr)
        print(f"nvidia: {self.megabytes} MB")


if __name__ == "__main__":
    if not FULL or os.geteuid() != 0 or not all(map(shutil.which, ("buildah", "mmdebstrap"))) or not list((SOURCE / "dist").glob("*.whl")):
        print("1 check skipped: it needs PASSNET_FULL=1, root, buildah, mmdebstrap and the wheel of make wheel")
        sys.exit(77)
    unittest.main(verbosity=2, argv=[sys.argv[0], *(f"Image.test_{image}" for image in sys.argv[1:])])
