"""`passnet reward` end to end: what a shipped pass, a wrong one and no pass are worth, asked as the recipes ask."""

import json
import os
import pathlib
import signal
import subprocess
import sys
import time
import unittest
import urllib.request

SOURCE = pathlib.Path(os.environ["PASSNET_SOURCE_DIR"])
sys.path[:0] = [str(SOURCE / "tests"), str(SOURCE / "tests" / "eval"), str(SOURCE / "python" / "env")]
from json_schema import problems
from passnet_case import BINARY, KERNEL, PASS, RIGHT_BODY, PassnetCase, take_one_processor
from passnet_env.client import RewardService
from tiers import FULL

take_one_processor()
LIST = "sorted_output_pass_rule_names.json"
RIGHT = {"add_relu.py": PASS, "add_relu.cpp": KERNEL % RIGHT_BODY}
WRONG = {**RIGHT, "add_relu.cpp": KERNEL % "    out[i] = x[i] + y[i];"}


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


class Served(PassnetCase):
    def serve(self, *options, listen=0):
        process = subprocess.Popen([str(BINARY), "reward", str(self.sample), "--listen", str(listen), "--json", *map(str, options)],
                                   stdout=subprocess.PIPE, text=True)
        self.addCleanup(process.wait)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.kill)
        self.said = json.loads(process.stdout.readline())
        return process


class Rewards(Served):
    def test_tells_what_answers_are_worth(self):
        process = self.serve()
        self.assertEqual(problems(self.said, json.loads((SOURCE / "docs" / "schemas" / "reward.json").read_text())), [])
        service = RewardService(self.said["url"], timeout=300)
        tasks = service.tasks()
        self.assertEqual([task["task"] for task in tasks], ["sample"])
        self.assertIn("def forward(self, in_0, in_1)", tasks[0]["prompt"])
        broken = {**RIGHT, "add_relu.cpp": "int main("}
        answers = [answer(RIGHT), answer(WRONG), answer(broken), answer({LIST: "[]"}), "I would rather not."]
        judged = service.judge(answers, ["sample"] * len(answers))
        self.assertEqual([one["verdict"] for one in judged[1:]], ["wrong", "build: failed", "abstained", "no-files"])
        self.assertIn(judged[0]["verdict"], ("correct", "unmeasured"))
        self.assertEqual(judged[0]["graphs"][0]["sites"], 1)
        for worse in (judged[1], judged[2], judged[4]):
            self.assertLess(worse["reward"], 0.5)
        self.assertEqual(judged[3]["reward"], 1)
        self.assertNotIn("/tmp/", judged[2]["feedback"])
        screened = service.judge(answers[:2], ["sample"] * 2, detail="screen")
        self.assertEqual([one["verdict"] for one in screened], ["correct", "wrong"])
        self.assertEqual([one["untimed"] for one in screened], [["small"], ["small"]])
        self.assertEqual(screened[0]["reward"], 1)
        self.assertLess(screened[1]["reward"], 0.5)
        batch = service.ask("/rewards", {"items": [{"task": "sample", "text": text, "detail": "screen"} for text in answers[1:]]})
        self.assertEqual([one["verdict"] for one in batch["results"]], [one["verdict"] for one in judged[1:]])
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(20), 0)


class Jobs(Served):
    def test_survive_kills(self):
        """Each job is answered once, by whichever server is there then."""
        queue, files = self.root / "queue", {**RIGHT, "add_relu.cpp": "int main("}
        process = self.serve("--out", queue)
        port = int(self.said["url"].rsplit(":", 1)[1])
        service = RewardService(self.said["url"], timeout=300)
        jobs = service.ask("/jobs", {"items": [{"task": "sample", "files": files, "detail": "screen"}] * 8})["ids"]
        for kill in range(20 if FULL else 1):
            time.sleep(0.3 * kill)
            process.kill()
            process.wait()
            process = self.serve("--out", queue, listen=port)
            jobs += service.ask("/jobs", {"task": "sample", "files": files, "detail": "screen"})["ids"]
        results = [service._result(job, time.monotonic() + 300) for job in jobs]
        self.assertEqual({one["verdict"] for one in results}, {"build: failed"})
        self.assertEqual(len(set(jobs)), 28 if FULL else 9)
        self.assertEqual(list(queue.glob("*.job")), [])

    def test_of_clients_need_a_token(self):
        tokens = self.root / "tokens"
        tokens.write_text("trainer 0123456789abcdef\n")
        self.serve("--token-file", tokens)
        with self.assertRaisesRegex(ConnectionError, "401: .*no known token"):
            RewardService(self.said["url"], token="").tasks()
        service = RewardService(self.said["url"], token="0123456789abcdef")
        self.assertEqual(service.judge(["I would rather not."], ["sample"])[0]["verdict"], "no-files")
        with urllib.request.urlopen(self.said["url"] + "/healthz") as alive:
            self.assertEqual(json.load(alive), {"ok": True})

    def test_without_tokens_are_served_to_this_machine_alone(self):
        done = subprocess.run([str(BINARY), "reward", str(self.sample), "--listen", "0.0.0.0:0"], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (3, "error: 0.0.0.0:0 can be reached from other machines, expected tokens\n"
                                                             "hint: --token-file FILE, or --listen 127.0.0.1:PORT for this machine alone\n"))


if __name__ == "__main__":
    unittest.main(verbosity=2)
