"""verifiers loads PassNet's tasks as a plugin, by their package's name, and scores replies by `passnet reward`."""

import asyncio
import unittest

from trainer_case import LIST, RIGHT, WRONG, RewardCase, answer, enter

enter("verifiers")

import verifiers.v1 as vf  # noqa: E402
from verifiers.v1.graph import MessageNode  # noqa: E402


class Verifiers(RewardCase):
    def score(self, task, reply):
        """The trace of a rollout that ended with this reply."""
        node = MessageNode(message=vf.AssistantMessage(content=reply), sampled=True)
        trace = vf.Trace(task=vf.TraceTask(type=type(task).__name__, data=task.data), agent=vf.AgentInfo(config=vf.AgentConfig()), nodes=[node])
        asyncio.run(task.score(trace))
        return trace

    def test_the_tasks_of_a_service_are_loaded_and_scored(self):
        config = vf.taskset_config_type("passnet-env").model_validate({"id": "passnet-env", "task": {"reward_url": self.url}})
        [task] = vf.load_taskset(config)
        self.assertEqual((task.data.name, task.data.idx), ("sample", 0))
        self.assertIn("def forward(self, in_0, in_1)", task.data.prompt)
        wrong, none = (self.score(task, reply) for reply in (answer(WRONG), answer({LIST: "[]"})))
        self.assertLess(wrong.reward, 0.5)
        try:
            right = self.score(task, answer(RIGHT))
            self.assertEqual(right.metrics["correct"], 1)
            self.assertGreater(right.reward, wrong.reward)
        except vf.TaskError as error:
            self.assertIn("could not be measured", str(error))  # other work disturbed it
        self.assertEqual((none.reward, none.metrics), (1, {"correct": 0, "abstained": 1}))


if __name__ == "__main__":
    unittest.main(verbosity=2)
