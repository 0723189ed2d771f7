"""PassNet as an environment of OpenEnv, served over HTTP and WebSocket: an action is a call of a tool.

    python3 -m passnet_env.openenv samples/* --port 8000
"""

import argparse
import functools
import pathlib
import sys
from collections.abc import Sequence
from typing import Any

from openenv.core.env_server import Action, Environment, Observation, State, create_app

from passnet_env.client import Attempt


class ToolCall(Action):
    tool: str
    arguments: dict[str, Any] = {}


class ToolResult(Observation):
    text: str
    is_error: bool = False
    tools: list[dict[str, Any]] = []  # after reset: {"name", "description", "inputSchema"}


class PassOpenEnv(Environment[ToolCall, ToolResult, State]):
    """Attempts at tasks, one per session. `submit` ends one. samples: their directories; options: of Attempt."""

    SUPPORTS_CONCURRENT_SESSIONS = True
    _attempt: Attempt | None

    def __init__(self, samples: Sequence[pathlib.Path], options: Sequence[str] = ()) -> None:
        super().__init__()
        self._samples = {sample.resolve().name: sample for sample in samples}
        self._options, self._attempt = options, None
        self._state = State()

    def reset(self, seed: int | None = None, episode_id: str | None = None, task: str | None = None, **_: Any) -> ToolResult:
        """Begins an attempt. task: the name of a sample; without one, seed chooses."""
        name = task if task is not None else list(self._samples)[(seed or 0) % len(self._samples)]
        if name not in self._samples:
            raise ValueError(f"no task '{name}', expected one of: {', '.join(self._samples)}")
        self.close()
        self._attempt = Attempt(self._samples[name], self._options)
        self._state = State(episode_id=episode_id, task=name)
        return ToolResult(text=self._attempt.prompt, tools=self._attempt.tools)

    def step(self, action: ToolCall, timeout_s: float | None = None, **_: Any) -> ToolResult:
        if self._attempt is None:
            raise RuntimeError("no attempt: reset comes first")
        self._state.step_count += 1
        answer = self._attempt.call(action.tool, **action.arguments)
        done = action.tool == "submit" and not answer.is_error
        return ToolResult(text=answer.text, is_error=answer.is_error, done=done, reward=self._attempt.reward() if done else None)

    @property
    def state(self) -> State:
        return self._state

    def close(self) -> None:
        if self._attempt is not None:
            self._attempt.close()
            self._attempt = None

    def list_splits(self) -> list[str]:
        return ["train"]

    def list_tasks(self, split: str) -> list[dict[str, str]]:
        return [{"id": name} for name in self._samples]


def main(arguments: Sequence[str]) -> None:
    import uvicorn

    parser = argparse.ArgumentParser(prog="passnet_env.openenv", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("samples", type=pathlib.Path, nargs="+", help="directories of samples")
    parser.add_argument("--host", default="127.0.0.1", help="(127.0.0.1)")
    parser.add_argument("--port", type=int, default=8000, help="(8000)")
    parser.add_argument("--sessions", type=int, default=16, help="attempts at a time (16)")
    parser.add_argument("--device", default="cpu", help="cpu, cuda or cuda:N (cpu)")
    options = parser.parse_args(arguments)
    make = functools.partial(PassOpenEnv, options.samples, ("--device", options.device))
    app = create_app(make, ToolCall, ToolResult, env_name="passnet", max_concurrent_envs=options.sessions)
    uvicorn.run(app, host=options.host, port=options.port, log_level="warning")


if __name__ == "__main__":
    main(sys.argv[1:])
