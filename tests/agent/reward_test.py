"""`passnet reward` end to end: what a shipped pass, a wrong one and no pass are worth, asked as the recipes ask."""

import json
import os
import pathlib
import signal
import subprocess
import sys
import unittest

SOURCE = pathlib.Path(os.environ["PASSNET_SOURCE_DIR"])
sys.path[:0] = [str(SOURCE / "tests" / "eval"), str(SOURCE / "python" / "env")]
from json_schema import problems
from passnet_case import BINARY, KERNEL, PASS, RIGHT_BODY, PassnetCase, take_one_processor
from passnet_env.client import RewardService

take_one_processor()
LIST = "sorted_output_pass_rule_names.json"


def answer(files):
    """As a model writes it."""
    return "Here is the pass.\n\n" + "\n".join(f"### `{name}`\n```\n{text}\n```" for name, text in files.items())


class Once(PassnetCase):
    def run_once(self, *samples):
        return subprocess.run([str(BINARY), "reward", *map(str, samples), "--once"], capture_output=True, text=True)

    def test_prints_the_reward_of_the_sample_s_own_passes(self):
        done = self.run_once(self.sample)
        self.assertIn(done.returncode, (0, 4), done.stderr)  # 4: other programs disturb the machine
        if done.returncode == 0:
            told = json.loads(done.stdout)
            self.assertEqual(list(told), ["reward", "score", "correct", "coverage", "fast_1"])
            self.assertEqual((told["correct"], told["coverage"]), (1, 1))
            self.assertEqual(told["reward"], told["score"])

    def test_takes_one_sample(self):
        done = self.run_once(SOURCE / "samples" / "gpt2_gelu", SOURCE / "samples" / "phi3_swiglu")
        self.assertEqual((done.returncode, done.stderr), (3, "error: --once: found 2 samples, expected one\n"))


class Rewards(PassnetCase):
    def setUp(self):
        super().setUp()
        self.process = subprocess.Popen([str(BINARY), "reward", str(self.sample), "--listen", "0", "--json"], stdout=subprocess.PIPE, text=True)
        self.addCleanup(self.process.stdout.close)
        self.addCleanup(self.process.kill)
        said = json.loads(self.process.stdout.readline())
        self.assertEqual(problems(said, json.loads((SOURCE / "docs" / "schemas" / "reward.json").read_text())), [])
        self.service = RewardService(said["url"], timeout=300)

    def test_tells_what_answers_are_worth(self):
        tasks = self.service.tasks()
        self.assertEqual([task["task"] for task in tasks], ["sample"])
        self.assertIn("def forward(self, in_0, in_1)", tasks[0]["prompt"])
        right = {"add_relu.py": PASS, "add_relu.cpp": KERNEL % RIGHT_BODY}
        wrong = {**right, "add_relu.cpp": KERNEL % "    out[i] = x[i] + y[i];"}
        broken = {**right, "add_relu.cpp": "int main("}
        answers = [answer(right), answer(wrong), answer(broken), answer({LIST: "[]"}), "I would rather not."]
        judged = self.service.judge(answers, ["sample"] * len(answers))
        self.assertEqual([one["verdict"] for one in judged[1:]], ["wrong", "build: failed", "abstained", "no-files"])
        self.assertIn(judged[0]["verdict"], ("correct", "unmeasured"))
        self.assertEqual(judged[0]["graphs"][0]["sites"], 1)
        for worse in (judged[1], judged[2], judged[4]):
            self.assertLess(worse["reward"], 0.5)
        self.assertEqual(judged[3]["reward"], 1)
        self.assertNotIn("/tmp/", judged[2]["feedback"])
        self.process.send_signal(signal.SIGINT)
        self.assertEqual(self.process.wait(20), 0)


if __name__ == "__main__":
    unittest.main(verbosity=2)
