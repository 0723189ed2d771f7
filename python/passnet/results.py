"""Results of judging: a directory with records, and what they come to."""

from __future__ import annotations

import html
import json
import subprocess
from functools import cached_property
from pathlib import Path
from typing import Any

from . import programs
from .errors import BadInput


class Result:
    """A run directory: records, score and report, all computed from `records.jsonl`.

    summary: what the program printed with --json (docs/json.md); None for a directory that was loaded.
    """

    def __init__(self, directory: str | Path, summary: Any = None):
        self.directory, self.summary = Path(directory), summary

    @cached_property
    def records(self) -> list[dict[str, Any]]:
        """One record per graph (docs/records.md), in the order of the run."""
        files = sorted(self.directory.rglob("records.jsonl"))
        return [json.loads(line) for file in files for line in file.read_text().splitlines() if line.strip()]

    @cached_property
    def score(self) -> float | None:
        """The aggregated score (docs/scoring.md): 1 is eager; None without records."""
        if not self.records:
            return None
        return self._scored["score_linear"]

    @property
    def correct(self) -> bool:
        """True if there are records and every graph is right."""
        return bool(self.records) and self._scored["correct"] == self._scored["total"]

    @property
    def pass_dir(self) -> Path | None:
        """The passes that were judged or written; None where the run holds none."""
        return next(iter(sorted(self.directory.rglob("pass_dir"))), None)

    @cached_property
    def _scored(self) -> dict[str, Any]:
        return programs.run(["score", self.directory], needs_torch=False)

    def report(self) -> str:
        """The table and the score in words, as `passnet score` prints them."""
        done = subprocess.run([programs.path_of(), "score", self.directory], capture_output=True, text=True, check=False)
        return done.stdout or done.stderr

    def __repr__(self) -> str:
        score = "no records" if self.score is None else f"score {self.score:.3f}"
        return f"<passnet.Result {self.directory}: {len(self.records)} records, {score}>"

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(self.report() if self.records else repr(self))}</pre>"


def load(path: str | Path):
    """A Graph for a directory with model.py, a Result for a directory with records, a Bundle for a file. Raises BadInput for anything else."""
    from .bundles import Bundle
    from .graph import Graph

    path = Path(path)
    if path.is_file():
        return Bundle(path)
    if (path / "model.py").is_file():
        return Graph(path)
    if path.is_dir() and next(path.rglob("records.jsonl"), None):
        return Result(path)
    raise BadInput(f"'{path}' holds neither a graph nor records", hint="expected a directory with model.py, one that a run wrote, or a bundle")
