"""Inspect evaluates a model, whose answers are given here, on a sample with the tools of `passnet mcp`."""

import unittest
from unittest import mock

from trainer_case import LIST, RIGHT, PassnetCase, enter, writes

enter("inspect-ai")

from inspect_ai import eval as evaluate  # noqa: E402
from inspect_ai.model import ModelOutput, get_model  # noqa: E402
from passnet_env.inspect_task import passnet  # noqa: E402


class Inspect(PassnetCase):
    def log_of(self, calls, **options):
        """The log of an evaluation in which the model makes these calls, then says that it is done."""
        says = [ModelOutput.for_tool_call("mockllm/model", name, arguments) for name, arguments in calls]
        model = get_model("mockllm/model", custom_outputs=[*says, ModelOutput.from_content("mockllm/model", "Done.")])
        with mock.patch("inspect_ai.model._model.count_text_tokens", len):  # its own counter loads a vocabulary from the network
            [log] = evaluate(passnet(samples=str(self.sample), **options), model=model, log_dir=str(self.root / "logs"), display="none")
        self.assertEqual(log.status, "success", log.error and log.error.message)
        return log.samples[0]

    def test_a_submitted_pass_is_scored(self):
        sample = self.log_of([*(("file_editor", one) for one in writes(RIGHT)), ("pass_match", {}), ("submit", {}), ("pass_match", {})])
        answers = [message.text for message in sample.messages if message.role == "tool"]
        self.assertIn("1 sites in 1 of 1 graphs", answers[-2], answers)
        self.assertIn("Measured again in fresh processes", answers[-1], answers)
        score = sample.scores["speedup"]
        self.assertTrue(score.value > 0 or score.explanation, score)

    def test_wrong_calls_are_told_and_what_is_there_at_the_limit_is_scored(self):
        sample = self.log_of([("file_editor", {"command": "view", "path": "/etc/passwd"}), ("file_editor", writes({LIST: '["missing"]'})[0]),
                              ("graph_info", {})], message_limit=6)
        self.assertIsNotNone(next(message for message in sample.messages if message.role == "tool").error)
        self.assertEqual(sample.limit.type, "message")
        self.assertLess(sample.scores["speedup"].value, 0.5)


if __name__ == "__main__":
    unittest.main(verbosity=2)
