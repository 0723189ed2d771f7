"""The training recipes on a tiny model: fine-tuning lowers the loss of what the model wrote, GRPO learns from a service's rewards."""

import argparse
import contextlib
import http.server
import io
import json
import os
import pathlib
import sys
import tempfile
import threading
import unittest

SOURCE = pathlib.Path(os.environ["PASSNET_SOURCE_DIR"])
sys.path[:0] = [str(SOURCE / "python" / "recipes"), str(SOURCE / "python" / "env"), str(pathlib.Path(__file__).resolve().parent)]
os.environ.update(HF_HUB_OFFLINE="1", HF_DATASETS_DISABLE_PROGRESS_BARS="1", TRANSFORMERS_VERBOSITY="error", TOKENIZERS_PARALLELISM="false")

import grpo  # noqa: E402
import serve  # noqa: E402
import sft  # noqa: E402
from passnet_env.client import RewardService, text_of  # noqa: E402
from tiers import full_tier  # noqa: E402

PASS = "def pattern(x, y):\n    return torch.nn.functional.relu(x + y)\n"
TOOLS = [{"type": "function", "function": {"name": "submit", "description": "Ends the attempt.", "parameters": {"type": "object", "properties": {}}}}]


def conversation(answer):
    return {"messages": [{"role": "system", "content": "You write passes."},
                         {"role": "user", "content": "Make this graph faster."},
                         {"role": "assistant", "content": answer,
                          "tool_calls": [{"id": "1", "type": "function", "function": {"name": "submit", "arguments": {}}}]},
                         {"role": "tool", "tool_call_id": "1", "content": "the score is 1.9"},
                         {"role": "assistant", "content": "Done."}],
            "tools": TOOLS}


class RewardServer(http.server.BaseHTTPRequestHandler):
    """What `passnet reward` answers, with more for every letter 'e' in a text."""

    asked = []
    results = []  # by job

    def do_GET(self):
        if self.path.startswith("/jobs/"):
            return self.answer({"state": "done", "result": self.results[int(self.path.split("/")[2].split("?")[0])]})
        return self.answer({"tasks": [{"task": "gelu", "prompt": "Write a pass."}, {"task": "norm", "prompt": "Write another pass."}]})

    def do_POST(self):
        items = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["items"]
        self.asked.append(items)
        first = len(self.results)
        self.results.extend({"reward": item["text"].count("e") / 10, "verdict": "correct"} for item in items)
        self.answer({"ids": [str(job) for job in range(first, len(self.results))]})

    def answer(self, body):
        data = json.dumps(body).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        pass


@full_tier
class Recipes(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        # The import of PyTorch alone takes seconds, which other tests need not wait for.
        from tiny_model import save_tiny_model

        cls.directory = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.directory.cleanup)
        cls.root = pathlib.Path(cls.directory.name)
        save_tiny_model(cls.root / "model", [json.dumps(conversation(PASS))])

    def test_fine_tuning_lowers_the_loss(self):
        data = self.root / "trajectories.jsonl"
        data.write_text("".join(json.dumps(conversation(PASS)) + "\n" for _ in range(4)))
        out = self.root / "sft"
        self.assertEqual(sft.main(["--model", str(self.root / "model"), "--data", str(data), "--out", str(out), "--steps", "20", "--batch", "2",
                                   "--accumulate", "1", "--learning-rate", "1e-2"]), 0)
        losses = [step["loss"] for step in json.loads((out / "training.json").read_text())["steps"] if "loss" in step]
        self.assertEqual(len(losses), 20)
        self.assertLess(losses[-1], 0.75 * losses[0])
        self.assertTrue((out / "model.safetensors").exists())
        self.assertTrue((out / "chat_template.jinja").exists())

    def test_rewards_of_a_service_train_the_model(self):
        import torch
        from safetensors.torch import load_file

        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), RewardServer)
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        out = self.root / "grpo"
        self.assertEqual(grpo.main(["--model", str(self.root / "model"), "--reward-url", f"http://127.0.0.1:{server.server_port}", "--out", str(out),
                                    "--steps", "2", "--group", "4", "--accumulate", "1", "--answer-tokens", "24", "--learning-rate", "1e-3"]), 0)
        self.assertEqual([len(items) for items in RewardServer.asked], [4, 4])
        self.assertEqual({len({item["task"] for item in items}) for items in RewardServer.asked}, {1})
        steps = json.loads((out / "training.json").read_text())["steps"]
        self.assertIn("rewards/aggregated_score/mean", steps[0])
        before, after = (load_file(directory / "model.safetensors") for directory in (self.root / "model", out))
        self.assertTrue(any(not torch.equal(before[name], after[name]) for name in after))


class Input(unittest.TestCase):
    """What is told of wrong input, without a model."""

    def setUp(self):
        self.directory = tempfile.TemporaryDirectory()
        self.addCleanup(self.directory.cleanup)
        self.data = pathlib.Path(self.directory.name) / "data.jsonl"

    def refusal(self, text):
        self.data.write_text(text)
        with self.assertRaises(ValueError) as caught:
            sft.read_conversations(self.data)
        return str(caught.exception).replace(self.directory.name, "DIR")

    def test_names_the_line_that_is_no_conversation(self):
        self.assertEqual(self.refusal(""), "DIR/data.jsonl: no conversations")
        self.assertIn("DIR/data.jsonl:2: no JSON: ", self.refusal('\n{"messages"'))
        self.assertEqual(self.refusal("[]"), "DIR/data.jsonl:1: list, expected an object")
        self.assertEqual(self.refusal('{"text": ""}'), "DIR/data.jsonl:1: no 'messages', expected a line of `passnet agent export --format trl`")
        self.assertEqual(self.refusal('{"messages": [{"role": "user", "content": ""}]}'),
                         "DIR/data.jsonl:1: no message of the assistant, so there is nothing to learn")

    def test_ends_with_the_exit_code_of_wrong_arguments(self):
        errors = io.StringIO()
        with contextlib.redirect_stderr(errors):
            self.assertEqual(sft.main(["--model", "m", "--data", str(self.data), "--out", "o"]), 2)
        self.assertIn("cannot read", errors.getvalue())

    def test_tells_that_no_service_answers(self):
        with self.assertRaises(ConnectionError) as caught:
            RewardService("http://127.0.0.1:1/").tasks()
        self.assertIn("is `passnet reward` running?", str(caught.exception))

    def test_takes_what_the_assistant_wrote(self):
        self.assertEqual(text_of("a"), "a")
        self.assertEqual(text_of([{"role": "user", "content": "q"}, {"role": "assistant", "content": "a"}, {"role": "assistant", "content": None}]), "a\n")

    def test_serves_by_what_is_installed(self):
        options = argparse.Namespace(model="m", host="h", port=1)
        self.assertEqual(serve.command(options, ["--x"], {"vllm": "/v"}.get)[:7], ["vllm", "serve", "m", "--host", "h", "--port", "1"])
        self.assertEqual(serve.command(options, ["--x"], {"transformers": "/t"}.get), ["transformers", "serve", "m", "--host", "h", "--port", "1", "--x"])
        self.assertIsNone(serve.command(options, [], {}.get))


if __name__ == "__main__":
    unittest.main(verbosity=2)
