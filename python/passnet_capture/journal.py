"""The journal of a capture: one line of JSON per model, appended and synced, so that a killed run loses one model at most."""

import fcntl
import json
import os
from collections import Counter
from dataclasses import asdict, dataclass, field
from pathlib import Path

from .causes import CAUSES


class Busy(Exception):
    """Another capture writes into the directory."""


class Damaged(Exception):
    """A line of the journal is none, and it is not the last."""


@dataclass
class Entry:
    """What became of one model. The last line of a model counts."""

    model: str
    source: str
    status: str = "failed"  # or "captured"
    cause: str | None = None  # one of CAUSES; None when captured
    message: str | None = None  # first line of why, with what to do
    graphs: list[str] = field(default_factory=list)  # directories, relative to the journal's
    shapes: dict[str, str] = field(default_factory=dict)  # shape -> "captured", or cause and message of why it was dropped
    seconds: float = 0.0
    peak_mb: int = 0  # largest resident memory of the process that captured it
    library_version: str | None = None
    torch_version: str | None = None
    licence: str | None = None


class Journal:
    """DIR/journal.jsonl, held by one process at a time."""

    def __init__(self, directory: Path):
        """Raises Busy when another process holds it, Damaged when it cannot be read. Cuts off a last line that was not written to its end."""
        directory.mkdir(parents=True, exist_ok=True)
        self.path = directory / "journal.jsonl"
        self._file = open(self.path, "a+b")
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self._file.close()
            raise Busy(f"{directory}: error: found another capture that writes there, expected none\n"
                       "hint: wait until it ends, or give another --out") from None  # fmt: skip
        try:
            self.entries, end = read_entries(self.path)
        except Damaged:
            self._file.close()
            raise
        self._file.truncate(end)

    def append(self, entry: Entry) -> None:
        self._file.write(json.dumps(asdict(entry)).encode() + b"\n")
        self._file.flush()
        os.fsync(self._file.fileno())
        self.entries[entry.source, entry.model] = entry

    def close(self) -> None:
        self._file.close()


def read_entries(path: Path) -> tuple[dict[tuple[str, str], Entry], int]:
    """The last entry of each (source, model), and where the last whole line ends."""
    entries, end = {}, 0
    known = Entry.__dataclass_fields__
    lines = path.read_bytes().splitlines(keepends=True)
    for number, line in enumerate(lines, 1):
        if not line.endswith(b"\n"):
            break
        try:
            facts = json.loads(line)
            entry = Entry(**{key: value for key, value in facts.items() if key in known})
        except (ValueError, TypeError, AttributeError):
            if number == len(lines):
                break
            raise Damaged(f"{path}:{number}: error: found '{line[:60].decode(errors='replace').strip()}', expected a line of JSON that "
                          "tells of a model\nhint: remove the line, or give another --out") from None  # fmt: skip
        entries[entry.source, entry.model] = entry
        end += len(line)
    return entries, end


def summary(entries: list[Entry]) -> str:
    """One line for what was captured, one for each cause of a failure."""
    captured = [entry for entry in entries if entry.status == "captured"]
    graphs = sum(len(entry.graphs) for entry in captured)
    counts = Counter(entry.cause for entry in entries if entry.status != "captured")
    lines = [f"captured: {len(captured)} of {len(entries)} models, {graphs} graphs"]
    lines += [f"{cause}: {counts[cause]} ({text})" for cause, text in CAUSES.items() if counts[cause]]
    return "\n".join(lines)
