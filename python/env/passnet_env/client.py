"""Clients of PassNet's two services: rewards of answers (`passnet reward`), and attempts with tools (`passnet mcp`)."""

import contextlib
import http.client
import json
import os
import pathlib
import subprocess
import tempfile
import threading
import time
import urllib.error
import urllib.request
import weakref
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import IO, Any

PROTOCOL = "2025-06-18"  # of `passnet mcp`
WAIT = 30  # seconds of one request for a job


class NoAnswer(ConnectionError):
    """The service is not there, or not yet there again."""


class RewardService:
    """A running `passnet reward`. url: of it, "http://127.0.0.1:8765"; timeout: seconds for one batch, restarts of the service among them.

    token: one of its --token-file; default: PASSNET_REWARD_TOKEN of the environment.
    """

    def __init__(self, url: str, timeout: float = 3600, token: str | None = None) -> None:
        self.url, self.timeout = url.rstrip("/"), timeout
        self._token = token if token is not None else os.environ.get("PASSNET_REWARD_TOKEN", "")

    def tasks(self) -> list[dict[str, Any]]:
        """[{"task": its name, "graphs": how many, "prompt": the task for one answer without tools}]."""
        return list(self.ask("/tasks")["tasks"])

    def judge(self, texts: Sequence[str], tasks: Sequence[str], detail: str = "score") -> list[dict[str, Any]]:
        """A verdict per text, a model's answer to the task at the same place: {"reward", "verdict", …} (docs/agent.md).

        detail: "score", or "screen" to check without timing.
        """
        items = [{"task": task, "text": text, "detail": detail} for task, text in zip(tasks, texts, strict=True)]
        jobs = list(self.ask("/jobs", {"items": items})["ids"])
        end = time.monotonic() + self.timeout
        try:
            return [self._result(job, end) for job in jobs]
        except BaseException:
            for job in jobs:
                with contextlib.suppress(ConnectionError):
                    self.ask(f"/jobs/{job}", method="DELETE")
            raise

    def _result(self, job: str, end: float) -> dict[str, Any]:
        """The result of a job. Raises ConnectionError: it has none, or not by the time `end`."""
        while True:
            try:
                told = self.ask(f"/jobs/{job}?wait={WAIT}")
            except NoAnswer:
                if time.monotonic() > end:
                    raise
                time.sleep(0.2)
                continue
            if told["state"] == "done":
                return dict(told["result"])
            if told["state"] not in ("queued", "running") or time.monotonic() > end:
                raise ConnectionError(f"{self.url}/jobs/{job}: {told['state']}: {told.get('error', 'no result')}")

    def ask(self, path: str, body: Any = None, method: str | None = None) -> dict[str, Any]:
        """The answer's JSON. Raises ConnectionError with the service's own message where there is one."""
        data = None if body is None else json.dumps(body).encode()
        headers = {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {self._token}"} if self._token else {})
        request = urllib.request.Request(self.url + path, data, headers, method=method)
        try:
            with urllib.request.urlopen(request, timeout=self.timeout) as answer:
                return dict(json.load(answer))
        except urllib.error.HTTPError as error:
            kind = NoAnswer if error.code == 503 else ConnectionError
            raise kind(f"{self.url}{path}: {error.code}: {error.read().decode(errors='replace')[:500]}") from error
        except (OSError, http.client.HTTPException) as error:
            raise NoAnswer(f"no answer from {self.url}{path} ({error}): is `passnet reward` running?") from error


@dataclass(frozen=True)
class ToolAnswer:
    """The result of a tool. facts: the score and verdicts as data, of tools that evaluate (docs/agent.md)."""

    text: str
    is_error: bool = False
    facts: dict[str, Any] = field(default_factory=dict)


class Attempt:
    """An attempt at one task with the agent's tools, in a workspace and a process of `passnet mcp` of its own.

    sample: directory of the task. options: of `passnet mcp`, such as ("--device", "cuda"). Raises ConnectionError when the
    program `passnet` does not start or ends. Calls may come from several threads.
    """

    def __init__(self, sample: str | os.PathLike[str], options: Sequence[str] = ()) -> None:
        self.sample = pathlib.Path(sample)
        self._lock, self._number, self._submitted = threading.Lock(), 0, dict[str, Any]()
        directory = tempfile.TemporaryDirectory(prefix="passnet-attempt-")
        self._errors = tempfile.TemporaryFile("w+", errors="replace")
        command = ["passnet", "mcp", str(self.sample), "-o", directory.name, "-q", *options]
        try:
            self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors, encoding="utf-8")
        except OSError as error:
            self._errors.close()
            directory.cleanup()
            raise ConnectionError(f"cannot start `passnet` ({error.strerror}): PATH must have its directory") from error
        self.close = weakref.finalize(self, _end, self._process, directory, self._errors)
        self.ask("initialize", protocolVersion=PROTOCOL, capabilities={}, clientInfo={"name": "passnet-env", "version": "0.2.0"})
        self.prompt = str(self.ask("prompts/get", name="write_pass")["messages"][0]["content"]["text"])
        self.tools: list[dict[str, Any]] = self.ask("tools/list")["tools"]
        for tool in self.tools:
            tool["inputSchema"]["properties"].pop("task", None)  # there is only one

    def call(self, tool: str, **arguments: Any) -> ToolAnswer:
        """Calls a tool. Arguments that are None are left out. A wrong call is an answer with is_error."""
        given = {name: value for name, value in arguments.items() if value is not None}
        try:
            result = self.ask("tools/call", name=tool, arguments=given)
        except ValueError as error:
            return ToolAnswer(str(error), True)
        answer = ToolAnswer(result["content"][0]["text"], result["isError"], result.get("structuredContent", {}))
        if tool == "submit":
            self._submitted = answer.facts
        elif tool == "file_editor" and given.get("command") != "view":
            self._submitted = {}
        return answer

    def reward(self) -> float | None:
        """The score of the passes as they are now, submitted if they have not been: 1 is PyTorch eager, and no pass at all.

        None when the machine was too busy to measure them: leave the attempt out.
        """
        facts = self._submitted or self.call("submit").facts
        return None if not facts or facts["unmeasured"] > 0 else float(facts["score"])

    def ask(self, method: str, **parameters: Any) -> dict[str, Any]:
        """The result of a request by the Model Context Protocol. Raises ValueError with the message of an error."""
        with self._lock:
            self._number += 1
            message = {"jsonrpc": "2.0", "id": self._number, "method": method, "params": parameters}
            line = ""
            with contextlib.suppress(OSError, ValueError):  # a process that ended gives no line
                stdin, stdout = self._streams()
                stdin.write(json.dumps(message) + "\n")
                stdin.flush()
                line = stdout.readline()
            if not line:
                raise ConnectionError(self._why_ended())
        answer = json.loads(line)
        if "error" in answer:
            raise ValueError(f"{method}: {answer['error']['message']}")
        return dict(answer["result"])

    def _streams(self) -> tuple[IO[str], IO[str]]:
        if self._process.stdin is None or self._process.stdout is None:
            raise ValueError("no pipes")
        return self._process.stdin, self._process.stdout

    def _why_ended(self) -> str:
        if not self.close.alive:
            return f"the attempt at {self.sample} is closed: make a new one"
        code = self._process.wait()
        self._errors.seek(0)
        return f"`passnet mcp {self.sample}` ended with exit code {code}: {self._errors.read()[-2000:].strip()}"


def _end(process: subprocess.Popen[str], directory: tempfile.TemporaryDirectory[str], errors: IO[str]) -> None:
    """Ends an attempt: its process, at the end of its input, and its workspace."""
    for stream in (process.stdin, process.stdout, errors):
        if stream is not None:
            with contextlib.suppress(OSError):
                stream.close()
    process.terminate()
    process.wait()
    directory.cleanup()


def text_of(completion: str | Sequence[dict[str, Any]]) -> str:
    """The text that a model wrote: of a conversation, all that the assistant said in it."""
    if isinstance(completion, str):
        return completion
    return "\n".join(message.get("content") or "" for message in completion if message.get("role") == "assistant")
