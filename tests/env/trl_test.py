"""TRL's multi-turn GRPO on a tiny model with the tools of `passnet mcp`: three steps, whose rewards differ."""

import json
import os
import pathlib
import sys
import unittest
from unittest import mock

from trainer_case import FULL, LIST, SOURCE, PassnetCase, writes

if not FULL:
    print("trl: PASSNET_FULL=1 runs it, and so does scripts/trainers")
    sys.exit(77)
sys.path[:0] = [str(SOURCE / "python" / "recipes"), str(SOURCE / "tests" / "recipes")]
os.environ.update(HF_HUB_OFFLINE="1", HF_DATASETS_DISABLE_PROGRESS_BARS="1", TRANSFORMERS_VERBOSITY="error", TOKENIZERS_PARALLELISM="false",
                  TRL_EXPERIMENTAL_SILENCE="1")

import grpo  # noqa: E402
import torch  # noqa: E402
import trl  # noqa: E402
from passnet_env.trl import PassEnvironment  # noqa: E402
from tiny_model import save_tiny_model  # noqa: E402
from transformers import AutoModelForCausalLM, AutoTokenizer  # noqa: E402
from transformers.utils import get_json_schema  # noqa: E402

# A list of a pass that is missing: worth less than doing nothing, so the model has something to unlearn.
CALL = {"name": "file_editor", "arguments": writes({LIST: '["x"]'})[0]}
ANSWERS = (f"<tool_call>\n{json.dumps(CALL)}\n</tool_call><|im_end|>", "Done.<|im_end|>")


class Short(PassEnvironment):
    """One tool and a prompt of a few words, so that a rollout takes a tiny model no time."""

    pass_match = pass_evaluator = pass_explain = graph_info = None

    def reset(self, sample, **_):
        super().reset(sample)
        return "Write a pass."


def teach(directory, prompt):
    """Trains the model until it gives both answers, each about as often."""
    tokenizer, model = AutoTokenizer.from_pretrained(directory), AutoModelForCausalLM.from_pretrained(directory)
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
    start = tokenizer(prompt)["input_ids"]
    batch = [torch.tensor([start + tokenizer(answer)["input_ids"]]) for answer in ANSWERS]
    for _ in range(100):
        optimizer.zero_grad()
        for ids in batch:
            labels = ids.clone()
            labels[:, :len(start)] = -100
            (model(input_ids=ids, labels=labels).loss * (ids.shape[1] - len(start))).backward()  # a long answer counts as its tokens
        optimizer.step()
    model.save_pretrained(directory)


class MultiTurn(PassnetCase):
    def test_three_steps_change_the_reward(self):
        torch.set_num_threads(1)
        tool = get_json_schema(Short().file_editor)
        model, out = self.root / "model", self.root / "grpo"
        save_tiny_model(model, [json.dumps(tool), *ANSWERS])
        tokenizer = AutoTokenizer.from_pretrained(model)
        tokenizer.chat_template = (pathlib.Path(trl.__file__).parent / "chat_templates" / "qwen3.jinja").read_text()
        tokenizer.save_pretrained(model)
        teach(model, tokenizer.apply_chat_template([{"role": "user", "content": "Write a pass."}], tools=[tool], add_generation_prompt=True,
                                                   tokenize=False))
        with mock.patch.object(grpo, "PassEnvironment", Short):
            self.assertEqual(grpo.main(["--model", str(model), "--samples", str(self.sample), "--out", str(out), "--steps", "3", "--group", "4",
                                        "--accumulate", "1", "--answer-tokens", "320", "--turns", "2", "--temperature", "0.7", "--learning-rate", "1e-3"]), 0)
        steps = [step for step in json.loads((out / "training.json").read_text())["steps"] if "reward" in step]
        self.assertEqual(len(steps), 3)
        self.assertGreater(len({step["reward"] for step in steps}), 1)
        self.assertGreater(max(step["tools/call_frequency"] for step in steps), 0)


if __name__ == "__main__":
    unittest.main(verbosity=2)
