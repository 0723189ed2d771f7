"""`passnet dataset export --harbor`: Harbor loads every task, and its agents `oracle` and `nop` get what docs/harbor.md says."""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import tomllib
import unittest

BUILD = pathlib.Path(os.environ["PASSNET_BINARY_DIR"])
SOURCE = pathlib.Path(os.environ["PASSNET_SOURCE_DIR"])
HERE = pathlib.Path(__file__).resolve().parent
HOME = pathlib.Path(os.environ.get("PASSNET_HOME", pathlib.Path.home() / ".cache/passnet"))
HARBOR = HOME / "harbor" / "python3"
sys.path[:0] = [str(SOURCE / "tests"), str(SOURCE / "tests" / "eval")]
from json_schema import problems  # noqa: E402
from tiers import FULL  # noqa: E402

VERSION = subprocess.run([BUILD / "bin/passnet", "--version"], capture_output=True, text=True).stdout.split()[1]
IMAGE = f"localhost/passnet:{VERSION}"
SAMPLE = "gpt2_gelu"


def has_image():
    return shutil.which("buildah") is not None and subprocess.run(["buildah", "inspect", "--type", "image", IMAGE], capture_output=True).returncode == 0


def export(out, *options):
    return subprocess.run([BUILD / "bin/passnet", "dataset", "export", *options, "--harbor", out, "--json", "--quiet"], capture_output=True, text=True)


class Scratch(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="passnet-harbor-")
        self.addCleanup(scratch.cleanup)
        self.scratch = pathlib.Path(scratch.name)


class Command(Scratch):
    def test_tells_what_it_wrote(self):
        done = export(self.scratch / "out", SOURCE / "samples" / SAMPLE)
        told = json.loads(done.stdout)
        self.assertEqual(problems(told, json.loads((SOURCE / "docs/schemas/dataset_export.json").read_text())), [])
        self.assertEqual(told, {"tasks": 1, "solved": 1, "image": f"passnet:{VERSION}"})
        with open(self.scratch / "out" / "tasks" / SAMPLE / "task.toml", "rb") as file:
            task = tomllib.load(file)
        self.assertEqual(task["environment"]["mcp_servers"][0]["args"][:4], ["mcp", f"/task/{SAMPLE}", "-o", "/work"])
        self.assertEqual(task["metadata"]["graphs"], 6)

    def test_refuses_solutions_that_are_not_there(self):
        done = export(self.scratch / "out", SOURCE / "samples" / SAMPLE, "--passes", self.scratch / "none")
        self.assertEqual((done.returncode, done.stderr), (3, f"error: --passes: '{self.scratch}/none' is no directory\n"))


@unittest.skipUnless(FULL and HARBOR.exists(), "needs PASSNET_FULL=1 and Harbor; scripts/harbor sets it up and runs this")
class Harbor(Scratch):
    def test_harbor_loads_all_tasks(self):
        subprocess.run([SOURCE / "scripts/passbench", "unpack", self.scratch], check=True)
        samples = [self.scratch / "passbench_c/lists/all.txt", *sorted(path.parent for path in (SOURCE / "samples").glob("*/graph_list.txt"))]
        for out in ("out", "again"):
            self.assertEqual(export(self.scratch / out, *samples, "-j", "2").returncode, 0)
        self.assertEqual(subprocess.run(["diff", "-r", self.scratch / "out", self.scratch / "again"], capture_output=True, text=True).stdout, "")
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
            self.skipTest(f"no image {IMAGE}; scripts/image builds it")
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
                              capture_output=True, text=True, env={**os.environ, "PYTHONPATH": str(HERE), "LITELLM_LOCAL_MODEL_COST_MAP": "True"})  # fmt: skip
        said = "".join(path.read_text() for path in jobs.glob("*/*/verifier/test-stdout.txt"))
        if "could not be measured" in said:
            self.skipTest("other programs disturb this machine")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr + said)
        found = list(jobs.glob("*/*/verifier/reward.json"))
        self.assertEqual(len(found), 1, done.stdout + done.stderr + said)
        return json.loads(found[0].read_text())


if __name__ == "__main__":
    unittest.main(verbosity=2)
