"""PassNet's tasks for verifiers and prime-rl: one answer each, judged by `passnet reward`.

    passnet reward samples/* --listen 8765 &
    eval passnet-env --env.taskset.task.reward-url http://127.0.0.1:8765
"""

import asyncio
from collections.abc import Iterator

import verifiers.v1 as vf

from passnet_env.client import RewardService


class PassTaskConfig(vf.TaskConfig):
    reward_url: str = "http://127.0.0.1:8765"
    """The address of `passnet reward`."""


class PassTask(vf.Task[vf.TaskData, vf.State, PassTaskConfig]):
    """Write passes for one sample. The data's name is that of the sample."""

    @vf.reward(weight=1.0)
    async def speedup(self, trace: vf.Trace) -> float:
        """The score of the last reply's files: 1 is PyTorch eager. Raises where the machine was too busy, so that the rollout is left out."""
        service = RewardService(self.config.reward_url)
        [verdict] = await asyncio.to_thread(service.judge, [trace.last_reply], [self.data.name or ""])
        if verdict["verdict"] == "unmeasured":
            raise RuntimeError(f"the passes for {self.data.name} could not be measured: {verdict['feedback']}")
        trace.record_metrics({"correct": float(verdict["verdict"] == "correct"), "abstained": float(verdict["verdict"] == "abstained")})
        return float(verdict["reward"])


class PassTasksetConfig(vf.TasksetConfig):
    task: PassTaskConfig = PassTaskConfig()


class PassTaskset(vf.Taskset[PassTask, PassTasksetConfig]):
    """The tasks of a running `passnet reward`."""

    def load(self) -> Iterator[PassTask]:
        for task in RewardService(self.config.task.reward_url).tasks():
            yield PassTask(vf.TaskData(name=task["task"], prompt=task["prompt"]), self.config.task)
