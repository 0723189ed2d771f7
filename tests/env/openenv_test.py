"""OpenEnv's server with PassNet's environment: its routes over HTTP, and sessions of its own client over WebSocket."""

import json
import socket
import subprocess
import sys
import time
import unittest
import urllib.request

from trainer_case import LIST, RIGHT, SOURCE, PassnetCase, enter, writes

enter("openenv")

from openenv.core.generic_client import GenericEnvClient  # noqa: E402


class OpenEnv(PassnetCase):
    def setUp(self):
        super().setUp()
        with socket.socket() as one:
            one.bind(("127.0.0.1", 0))
            port = one.getsockname()[1]
        server = subprocess.Popen([sys.executable, "-m", "passnet_env.openenv", self.sample, "--port", str(port)], cwd=SOURCE / "python" / "env")
        self.addCleanup(server.wait)
        self.addCleanup(server.terminate)
        self.url = f"http://127.0.0.1:{port}"
        while server.poll() is None:
            try:
                urllib.request.urlopen(f"{self.url}/health").close()
                return
            except OSError:
                time.sleep(0.1)
        self.fail("the server ended")

    def ask(self, path, body=None):
        request = urllib.request.Request(self.url + path, None if body is None else json.dumps(body).encode(), {"Content-Type": "application/json"})
        with urllib.request.urlopen(request) as answer:
            return json.load(answer)

    def test_routes_answer(self):
        self.assertEqual(self.ask("/health")["status"], "healthy")
        self.assertEqual(self.ask("/schema")["action"]["required"], ["tool"])
        reset = self.ask("/reset", {})
        self.assertIn("def forward(self, in_0, in_1)", reset["observation"]["text"])
        self.assertIn("pass_match", [tool["name"] for tool in reset["observation"]["tools"]])

    def test_sessions_have_workspaces_of_their_own(self):
        with GenericEnvClient(base_url=self.url).sync() as one, GenericEnvClient(base_url=self.url).sync() as other:
            self.assertIn("submit", [tool["name"] for tool in one.reset(task="sample").observation["tools"]])
            other.reset(seed=3)
            for arguments in writes(RIGHT):
                self.assertFalse(one.step({"tool": "file_editor", "arguments": arguments}).observation["is_error"])
            self.assertIn("1 sites in 1 of 1 graphs", one.step({"tool": "pass_match"}).observation["text"])
            self.assertTrue(other.step({"tool": "file_editor", "arguments": {"command": "view", "path": f"pass_dir/{LIST}"}}).observation["is_error"])
            self.assertEqual(one.state()["step_count"], len(RIGHT) + 1)
            done = other.step({"tool": "submit"})
            self.assertTrue(done.done)
            self.assertEqual(done.reward, 1)


if __name__ == "__main__":
    unittest.main(verbosity=2)
