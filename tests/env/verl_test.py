"""verl's own reward manager loads `compute_score` by its configuration and asks `passnet reward`."""

import asyncio
import os
import unittest

from trainer_case import RIGHT, WRONG, RewardCase, answer, enter

enter("verl")
os.environ.update(VERL_USE_EXTERNAL_PLUGINS="none", TOKENIZERS_PARALLELISM="false")

import numpy  # noqa: E402
import torch  # noqa: E402
from omegaconf import OmegaConf  # noqa: E402
from passnet_env.verl import rows  # noqa: E402
from verl import DataProto  # noqa: E402
from verl.trainer.ppo.reward import load_reward_manager  # noqa: E402


class Bytes:
    """A tokenizer: a token is a byte."""

    def decode(self, ids, skip_special_tokens):
        return bytes(ids.tolist()).decode()


class Verl(RewardCase):
    def reward_of(self, manager, row, text):
        """The manager's reward of a response to the prompt of a row."""
        response = torch.tensor([list(text.encode())])
        data = DataProto.from_dict(tensors={"responses": response, "attention_mask": torch.ones_like(response)},
                                   non_tensors={name: numpy.array([value], dtype=object) for name, value in row.items()})
        return manager.run_single(data)

    def test_answers_are_rewarded(self):
        [row] = rows(self.url)
        self.assertIn("def forward(self, in_0, in_1)", row["prompt"][0]["content"])
        config = OmegaConf.create({"reward": {
            "custom_reward_function": {"path": "pkg://passnet_env.verl", "name": "compute_score", "reward_kwargs": {"url": self.url}},
            "reward_manager": {"source": "register", "name": "naive"}}})

        async def ask():
            manager = load_reward_manager(config, Bytes())
            return [await self.reward_of(manager, row, text) for text in (answer(RIGHT), answer(WRONG), "I would rather not.")]

        right, wrong, none = asyncio.run(ask())
        self.assertGreater(right["reward_score"], wrong["reward_score"])
        self.assertLess(wrong["reward_score"], 0.5)
        self.assertEqual(none["reward_extra_info"], {"score": 0.1, "correct": 0, "measured": 1})


if __name__ == "__main__":
    unittest.main(verbosity=2)
