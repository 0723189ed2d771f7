"""A worker of `passnet dataset capture`: it imports PyTorch and a source of models once, and forks a child for each model.

It answers the requests of docs/protocol.md, "Capturing", on descriptor 3, and ends when nobody is there to ask.
"""

import gc
import json
import os
import shutil
import signal
import socket
import struct
from dataclasses import asdict
from pathlib import Path
from typing import Any, BinaryIO

from . import child
from .causes import OUT_OF_MEMORY, first_line, no_pytorch
from .sources import SourceError, find_source

SOCKET = 3
RESULT = "result.json"


def serve() -> None:
    """Returns when the peer says "exit" or is gone."""
    stream = socket.socket(fileno=SOCKET).makefile("rwb")
    server = Server(SOCKET)
    while (request := receive(stream)) is not None and request["do"] != "exit":
        reply = server.answer(request)
        if reply is None:
            return
        send(stream, reply)


def receive(stream: BinaryIO) -> dict[str, Any] | None:
    """The next message; None when the peer is gone."""
    header = stream.read(4)
    return json.loads(stream.read(struct.unpack("<I", header)[0])) if len(header) == 4 else None


def send(stream: BinaryIO, message: dict[str, Any]) -> None:
    text = json.dumps(message).encode()
    stream.write(struct.pack("<I", len(text)) + text)
    stream.flush()


class Server:
    def __init__(self, peer: int):
        """peer: the descriptor that tells when the answer is not wanted any more."""
        self.peer = peer
        self.asked, self.source, self.facts = None, None, {}
        self.can_fork = False

    def answer(self, request: dict[str, Any]) -> dict[str, Any] | None:
        """None: the peer is gone."""
        if request["do"] == "source":
            return self.open(request["from"])
        entry = self.capture(request)
        return entry and {"ok": True, "entry": asdict(entry)}

    def open(self, asked: str) -> dict[str, Any]:
        try:
            import torch

            if asked != self.asked:
                self.source = find_source(asked)
                self.asked = asked
        except ImportError as error:
            return _refusal("resource", *no_pytorch(error))
        except SourceError as error:
            return {**_refusal("bad-input", str(error), error.hint), "at": {"file": "--from", "line": 0, "column": 0}}
        self.facts = {"source": self.source.name, "library_version": self.source.library_version, "licence": self.source.licence,
                      "torch_version": torch.__version__.split("+")[0]}  # fmt: skip
        return {"ok": True, **self.facts, "models": self.source.names()}

    def capture(self, request: dict[str, Any]):
        """What became of the model; None: nobody wants to know any more."""
        from .one_model import Entry, capture_model

        entry = Entry(request["model"], **self.facts)
        entry.message = self.source.left_out(entry.model)
        if entry.message:
            entry.cause = "unsupported"
            return entry
        self._prepare_to_fork()
        out, limit = Path(request["out"]), request["memory_bytes"]
        scratch = out / ".partial" / str(os.getpid())
        scratch.mkdir(parents=True)

        def work() -> None:
            made = capture_model(lambda: self.source.plan(entry.model, request["shapes"]), {**self.facts, "model": entry.model},
                                 out / request["directory"], scratch / "model", limit)  # fmt: skip
            (scratch / RESULT).write_text(json.dumps(asdict(made)))

        try:
            ended = child.run(work, request["seconds"], limit, scratch / "log", self.peer)
            return ended and _outcome(entry, ended, scratch / RESULT, limit)
        finally:
            shutil.rmtree(scratch, ignore_errors=True)

    def _prepare_to_fork(self) -> None:
        """Children start with what every capture needs, and with one thread: threads do not survive a fork."""
        if self.can_fork:
            return
        import torch

        from .capture import capture

        os.environ["HF_HUB_OFFLINE"] = os.environ["TRANSFORMERS_OFFLINE"] = "1"
        torch.set_num_threads(1)
        capture(torch.nn.Linear(2, 2), {"input": torch.ones(1, 2)})
        torch._dynamo.reset()
        gc.collect()
        gc.freeze()
        self.can_fork = True


def _refusal(kind: str, error: str, hint: str) -> dict[str, Any]:
    return {"ok": False, "kind": kind, "error": error, "hint": hint}


def _outcome(entry, ended: child.Ended, result: Path, memory_bytes: int):
    """What the child wrote, or why it could not."""
    try:
        entry = type(entry)(**json.loads(result.read_text()))
    except (OSError, ValueError):
        if ended.timed_out:
            entry.cause, entry.message = "timeout", f"found it running after {ended.seconds:.0f} s, expected less; raise --timeout"
        elif message := _memory_message(ended, memory_bytes):
            entry.cause, entry.message = "memory", message
        else:
            how = signal.Signals(-ended.status).name if ended.status < 0 else f"exit status {ended.status}"
            entry.cause, entry.message = "crash", first_line(f"the process ended with {how}: {_last_words(ended.log)}")
    entry.seconds, entry.peak_mb = round(ended.seconds, 2), ended.peak_mb
    return entry


def _memory_message(ended: child.Ended, memory_bytes: int) -> str | None:
    """How a child ran out of memory; None: it ended otherwise."""
    limit_mb = memory_bytes >> 20
    if ended.status == -signal.SIGKILL:
        return (f"the system killed the process at {ended.peak_mb} MiB, as it does where this machine has no memory left; "
                "lower --jobs, or capture where there is more memory")  # fmt: skip
    texts = ("MemoryError", *OUT_OF_MEMORY)
    # A library that gets no memory and does not look ends with a signal just below the limit.
    if any(text in ended.log for text in texts) or (ended.status < 0 and ended.peak_mb > 0.9 * limit_mb):
        return f"found no memory left below {limit_mb} MiB; raise --memory-gb"
    return None


def _last_words(log: str) -> str:
    """The line of a log that says why a process ended: that of Python's fault handler, else the last one."""
    lines = log.strip().splitlines() or [""]
    return next((line for line in lines if line.startswith("Fatal Python error")), lines[-1])
