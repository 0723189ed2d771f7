"""`passnet dataset export --harbor`: Harbor loads every task, and its agents `oracle` and `nop` get what docs/harbor.md says."""

import filecmp
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

BUILD = pathlib.Path(os.environ["PASSNET_BINARY_DIR"])
SOURCE = pathlib.Path(os.environ["PASSNET_SOURCE_DIR"])
HERE = pathlib.Path(__file__).resolve().parent
HOME = pathlib.Path(os.environ.get("PASSNET_HOME", pathlib.Path.home() / ".cache/passnet"))
HARBOR = HOME / "harbor" / "python3"
sys.path.insert(0, str(SOURCE / "tests"))
from tiers import FULL  # noqa: E402

VERSION = subprocess.run([BUILD / "bin/passnet", "--version"], capture_output=True, text=True).stdout.split()[1]
IMAGE = f"localhost/passnet:{VERSION}"
SAMPLE = "gpt2_gelu"
CHECKS = 2


def has_image():
    return shutil.which("buildah") is not None and subprocess.run(["buildah", "inspect", "--type", "image", IMAGE], capture_output=True).returncode == 0


def export(out, *options):
    subprocess.run([BUILD / "bin/passnet", "dataset", "export", *options, "--harbor", out, "-j", "2", "--quiet"], check=True, stdout=subprocess.DEVNULL)


class Harbor(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="passnet-harbor-")
        self.addCleanup(scratch.cleanup)
        self.scratch = pathlib.Path(scratch.name)

    def test_harbor_loads_all_tasks(self):
        subprocess.run([SOURCE / "scripts/passbench", "unpack", self.scratch], check=True)
        samples = [self.scratch / "passbench_c/lists/all.txt", *sorted(path.parent for path in (SOURCE / "samples").glob("*/graph_list.txt"))]
        export(self.scratch / "out", *samples)
        export(self.scratch / "again", *samples)
        compared = filecmp.dircmp(self.scratch / "out", self.scratch / "again")
        self.assertEqual(subprocess.run(["diff", "-r", compared.left, compared.right], capture_output=True, text=True).stdout, "")
        done = subprocess.run([HARBOR, HERE / "load_tasks.py", self.scratch / "out"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        told = json.loads(done.stdout)
        self.assertEqual(len(told["tasks"]), 212)
        self.assertEqual(told["listed"], [f"tasks/{task['name'].removeprefix('passnet/')}" for task in told["tasks"]])
        for task in told["tasks"]:
            name = task["name"].removeprefix("passnet/")
            self.assertEqual(task["servers"], ["passnet"])
            self.assertEqual(task["artifacts"], [f"/work/{name}/workspace/pass_dir"])
            self.assertEqual(task["verifier"], ["no-network", True, "tests"])

    def test_agents_get_the_rewards_that_are_documented(self):
        if not has_image():
            print(f"1 checks skipped: no image {IMAGE}; scripts/image builds it")
            return
        export(self.scratch / "out", SOURCE / "samples" / SAMPLE, "--image", IMAGE)
        rewards = {agent: self.rewards_of(agent) for agent in ("oracle", "nop")}
        self.assertEqual(rewards["nop"], {"reward": 1.0, "score": 1.0, "correct": 0.0, "coverage": 0.0, "fast_1": 0.0})
        self.assertEqual((rewards["oracle"]["correct"], rewards["oracle"]["coverage"]), (1.0, 1.0))
        self.assertGreater(rewards["oracle"]["reward"], 1)
        self.assertEqual(rewards["oracle"]["reward"], rewards["oracle"]["score"])

    def rewards_of(self, agent):
        jobs = self.scratch / agent
        done = subprocess.run([HARBOR, "-m", "harbor.cli.main", "run", "-p", self.scratch / "out" / "tasks" / SAMPLE, "-a", agent, "-o", jobs, "-n", "1", "-y",
                               "-e", "buildah_environment:BuildahEnvironment"],
                              capture_output=True, text=True, env={**os.environ, "PYTHONPATH": str(HERE)})  # fmt: skip
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        found = list(jobs.glob("*/*/verifier/reward.json"))
        self.assertEqual(len(found), 1, done.stdout + done.stderr)
        return json.loads(found[0].read_text())


if __name__ == "__main__":
    if not FULL or not HARBOR.exists():
        print(f"{CHECKS} checks skipped: they need PASSNET_FULL=1 and Harbor; scripts/harbor sets it up and runs them")
        sys.exit(77)
    unittest.main(verbosity=2)
