"""The agent on a GPU: a server that plays a model which knows the passes of five samples. Skipped where there is no GPU."""

import json
import os
import pathlib
import re
import subprocess
import sys

TESTS = pathlib.Path(__file__).resolve().parent.parent
SOURCE = TESTS.parent
sys.path[:0] = [str(TESTS / "eval"), str(TESTS / "agent"), str(TESTS / "gpu")]
from gpu_main import main  # noqa: E402
from passnet_case import BINARY, PassnetCase  # noqa: E402
from scripted_server import Calls, ScriptedServer, create_all, files_of, knows_samples  # noqa: E402

SAMPLES = ("gpt2_gelu", "llama_add_rms_norm", "phi3_swiglu", "resnet_batch_norm_add_relu", "vit_add_layer_norm")


class Agent(PassnetCase):
    def test_writes_the_passes_of_five_samples(self):
        script = knows_samples(lambda task: create_all(files_of(SOURCE / "samples" / task)),
                               lambda _: Calls([("pass_match", {}), ("pass_evaluator", {})]), lambda _: Calls([("submit", {})]))
        with ScriptedServer(script) as server:
            command = [str(BINARY), "agent", "run", *(str(SOURCE / "samples" / name) for name in SAMPLES), "--model", "scripted", "--base-url",
                       server.url, "--device", "cuda", "--workers", "5", "-o", str(self.out)]
            done = subprocess.run(command, capture_output=True, text=True, timeout=600, env={**os.environ, "OPENAI_API_KEY": "sk-none"})
        self.assertEqual(done.returncode, 0, done.stderr + done.stdout)
        for name in SAMPLES:
            with self.subTest(sample=name):
                trajectory = json.loads((self.out / name / "attempt_0" / "trajectory.jsonl").read_text())
                observation = trajectory["trajectory_steps"][1]["observation"]
                right, of = re.search(r"; (\d+) of (\d+) graphs correct", observation).groups()
                self.assertEqual(right, of, observation)
                self.assertGreater(trajectory["reward"], 1)


if __name__ == "__main__":
    main()
