"""PassNet's tasks for Inspect, with the agent's tools: `inspect eval passnet_env/passnet -T samples=samples/vit_add_layer_norm,…`."""

import asyncio
from collections.abc import Sequence
from typing import Any

from inspect_ai import Task, task
from inspect_ai.dataset import Sample
from inspect_ai.model import ChatMessageUser
from inspect_ai.scorer import Score, Scorer, Target, mean, scorer, stderr
from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.tool import Tool, ToolDef, ToolError, ToolParams

from passnet_env.client import Attempt

REWARD = "passnet_reward"


def tool_of(attempt: Attempt, state: TaskState, spec: dict[str, Any]) -> Tool:
    """A tool of `passnet mcp` as one of Inspect. `submit` ends the attempt."""

    async def execute(**arguments: Any) -> str:
        answer = await asyncio.to_thread(attempt.call, spec["name"], **arguments)
        if answer.is_error:
            raise ToolError(answer.text)
        state.completed = state.completed or spec["name"] == "submit"
        return answer.text

    parameters = ToolParams.model_validate(spec["inputSchema"])
    for name, parameter in parameters.properties.items():
        parameter.description = parameter.description or name  # Inspect refuses one without
    return ToolDef(execute, spec["name"], spec["description"], parameters).as_tool()


@solver
def attempt_with_tools(options: Sequence[str]) -> Solver:
    async def solve(state: TaskState, generate: Generate) -> TaskState:
        attempt = await asyncio.to_thread(Attempt, str(state.input), options)
        try:
            state.messages = [ChatMessageUser(content=attempt.prompt)]
            state.tools = [tool_of(attempt, state, spec) for spec in attempt.tools]
            return await generate(state, tool_calls="loop")
        finally:
            state.store.set(REWARD, await asyncio.to_thread(attempt.reward))
            attempt.close()

    return solve


@scorer(metrics=[mean(), stderr()])
def speedup() -> Scorer:
    """The score of the submitted passes: 1 is PyTorch eager."""

    async def score(state: TaskState, target: Target) -> Score:
        reward = state.store.get(REWARD)
        return Score(value=reward) if reward is not None else Score.unscored(explanation="the machine was too busy to measure the passes")

    return score


@task
def passnet(samples: str | list[str], device: str = "cpu", message_limit: int = 100) -> Task:
    """samples: directories; device: cpu, cuda or cuda:N."""
    names = samples.split(",") if isinstance(samples, str) else samples
    return Task(dataset=[Sample(input=name, id=name) for name in names], solver=attempt_with_tools(("--device", device)), scorer=speedup(),
                message_limit=message_limit)
