"""`passnet agent run` against servers that nobody here wrote: `transformers serve` with a tiny random model, and LiteLLM's proxy, which
speaks both APIs, with an answer of its own.

Full tier: the proxy, which takes longer to start than all else. Both APIs are spoken in agent_test.py as well.
"""

import json
import os
import pathlib
import secrets
import socket
import subprocess
import sys
import time
import unittest
import urllib.error
import urllib.request

SOURCE = pathlib.Path(os.environ["PASSNET_SOURCE_DIR"])
sys.path[:0] = [str(SOURCE / "tests" / name) for name in ("eval", "recipes", "")]
from passnet_case import BINARY, PassnetCase
from tiers import FULL, full_tier

KEY = f"sk-{secrets.token_hex(20)}"
# Of scripts/bootstrap.
SERVERS_PYTHON = pathlib.Path(os.environ.get("PASSNET_HOME") or "~/.cache/passnet").expanduser() / "servers" / "bin" / "python3"
SAID = "I will call nothing."


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


class ServerCase(PassnetCase):
    def serve(self, *command, health, python=sys.executable, **environment):
        """Starts a server; returns its URL once it answers."""
        port = free_port()
        log = open(self.root / "server.log", "w+")
        self.addCleanup(log.close)
        process = subprocess.Popen([str(python), "-m", *command, "--host", "127.0.0.1", "--port", str(port)], stdout=log, stderr=log,
                                   stdin=subprocess.DEVNULL, env={**os.environ, "CUDA_VISIBLE_DEVICES": "", **environment})
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        url = f"http://127.0.0.1:{port}"
        for _ in range(600):
            if process.poll() is not None:
                log.seek(0)
                self.fail(f"the server ended: {log.read()[-2000:]}")
            try:
                urllib.request.urlopen(url + health, timeout=5).close()
                return url
            except urllib.error.HTTPError:
                return url  # it answers
            except OSError:
                time.sleep(0.2)
        self.fail("the server did not come up")

    def attempt(self, url, *options):
        """The trajectory of an attempt of two steps."""
        done = subprocess.run([str(BINARY), "agent", "run", str(self.sample), "--base-url", url, "--max-steps", "2", "--tries", "2",
                               "--first-wait", "0.1", "-o", str(self.out), *options], capture_output=True, text=True, timeout=300,
                              env={**os.environ, "OPENAI_API_KEY": KEY, "ANTHROPIC_API_KEY": KEY}, stdin=subprocess.DEVNULL)
        self.assertEqual(done.returncode, 0, done.stderr)
        trajectory = json.loads((self.out / "sample" / "attempt_0" / "trajectory.jsonl").read_text())
        self.assertEqual(len(trajectory["trajectory_steps"]), 2)
        self.assertEqual(trajectory["exit_reason"], "max_step_limit")
        self.out = self.root / f"{self.out.name}_next"
        return trajectory


@full_tier
class Transformers(ServerCase):
    def test_a_served_model_is_asked(self):
        from tiny_model import save_tiny_model

        model = str(self.root / "model")
        save_tiny_model(model, ["def pattern(x, y): return torch.nn.functional.relu(x + y)"])
        url = self.serve("transformers.cli.transformers", "serve", model, health="/health", HF_HUB_OFFLINE="1") + "/v1"
        for options in ((), ("--no-stream",), ("--tools", "text")):
            with self.subTest(options=options):
                trajectory = self.attempt(url, "--model", model, "--max-output-tokens", "16", *options)
                self.assertGreater(trajectory["num_tokens_prompt"], 1000)
                self.assertGreater(trajectory["num_tokens_completion"], 0)


@unittest.skipUnless(SERVERS_PYTHON.exists(), f"no {SERVERS_PYTHON}: scripts/bootstrap full makes it")
@unittest.skipUnless(FULL, "full tier")
class LiteLlm(ServerCase):
    def test_both_apis_are_spoken(self):
        config = self.root / "config.yaml"
        config.write_text(f"model_list:\n- model_name: mock\n  litellm_params: {{model: openai/mock, api_key: none, mock_response: '{SAID}'}}\n")
        url = self.serve("litellm.proxy.proxy_cli", "--config", str(config), health="/health/liveliness", python=SERVERS_PYTHON, LITELLM_MASTER_KEY=KEY,
                         LITELLM_LOCAL_MODEL_COST_MAP="True")
        for options in (("--api", "openai"), ("--api", "openai", "--no-stream"), ("--api", "anthropic"), ("--api", "anthropic", "--no-stream")):
            with self.subTest(options=options):
                trajectory = self.attempt(url + ("/v1" if "openai" in options else ""), "--model", "mock", *options)
                self.assertEqual(trajectory["trajectory_steps"][0]["thought"], SAID)


if __name__ == "__main__":
    unittest.main(verbosity=2)
