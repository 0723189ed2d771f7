"""Writes passes for the graphs of a model ahead of time, and tells which are used."""

from __future__ import annotations

import atexit
import contextlib
import fcntl
import html
import json
import queue
import shutil
import sys
import tempfile
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Callable, Iterator, Mapping, Sequence

import torch

from . import backend, cache, programs
from .errors import BadInput, BadPass, Error
from .form import CaptureFailure, Form
from .graph import write
from .judging import check
from .rewrites import form_as_run
from .tracing import trace_all

GRAPH = "graph"  # name of the one graph of a sample


@dataclass
class Row:
    """One graph of a model.

    status: "used", "trusted", "declined", "unknown" (no passes were written yet), or "eager" (PassNet does not run it).
    """

    graph: str
    operators: int
    status: str
    why: str = ""
    passes: tuple[str, ...] = ()
    ratio: float | None = None
    interval: tuple[float, float] | None = None
    error: float | None = None
    of_eager: float | None = None


class Report:
    """A row per graph of a model: its passes, or the reason for none. Prints as a table."""

    HEADER = ("graph", "operators", "status", "ratio", "95 %", "error", "eager's", "passes, or why not")

    def __init__(self, rows: Sequence[Row]):
        self.rows = list(rows)

    def _cells(self) -> list[tuple[str, ...]]:
        def number(value: float | None, form: str) -> str:
            return "-" if value is None else format(value, form)

        return [(row.graph, str(row.operators), row.status, "-" if row.ratio is None else f"{row.ratio:.2f}x",
                 "-" if row.interval is None else f"{row.interval[0]:.2f} to {row.interval[1]:.2f}", number(row.error, ".1e"),
                 number(row.of_eager, ".1e"), ", ".join(row.passes) or row.why) for row in self.rows]  # fmt: skip

    def __repr__(self) -> str:
        lines = [self.HEADER, *self._cells()]
        widths = [max(len(line[column]) for line in lines) for column in range(len(self.HEADER) - 1)]
        return "\n".join("  ".join([*(cell.ljust(width) for cell, width in zip(line, widths)), line[-1]]) for line in lines)

    def _repr_html_(self) -> str:
        rows = "".join("<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in cells) + "</tr>" for cells in self._cells())
        return "<table><tr>" + "".join(f"<th>{name}</th>" for name in self.HEADER) + f"</tr>{rows}</table>"


def tune(model: torch.nn.Module | Callable, args: Sequence[Any] | Mapping[str, Any], budget_s: float = 60, *, cache_dir: str | None = None,
         again: bool = False) -> Report:  # fmt: skip
    """Runs `model(*args)` once, and writes, checks and times passes for each of its graphs that has none in the cache.

    budget_s: seconds for one graph of up to 64 operators, and for each different part of a larger one; progress on stderr says how
    many there are. again: also for graphs that are known. Models that are compiled already use the new passes from their next call
    on. A graph that could not be measured stays unknown. After an interrupt the next call goes on.
    """
    backend.require_budget(budget_s)
    return _report(model, args, lambda form: _tune_form(form, budget_s, cache_dir, again, lambda line: print(line, file=sys.stderr, flush=True)))


def explain(model: torch.nn.Module | Callable, args: Sequence[Any] | Mapping[str, Any], *, cache_dir: str | None = None) -> Report:
    """Runs `model(*args)` once, and tells what backend="passnet" would use for each of its graphs."""
    return _report(model, args, lambda form: cache.find(form, cache_dir))


def trust(model: torch.nn.Module | Callable, args: Sequence[Any] | Mapping[str, Any], pass_dir: str | Path, *,
          cache_dir: str | None = None) -> Report:  # fmt: skip
    """Puts passes from elsewhere into the cache of this user, for the graphs of `model(*args)` that they match.

    They are checked against PyTorch's results, and not timed. You vouch for their kernels, which run in your process.
    Raises BadPass for passes that are not right.
    """
    if not Path(pass_dir).is_dir():
        raise BadInput(f"'{pass_dir}' is no directory, expected a pass_dir")
    return _report(model, args, lambda form: _trust_form(form, Path(pass_dir), cache_dir))


def tune_in_background(form: Form, options: backend.Options) -> None:
    """Tunes one graph after the others, in a thread of its own. What goes wrong is logged."""
    global _worker
    _waiting.put((form, options))
    with _worker_lock:
        if _worker is None:
            _worker = threading.Thread(target=_work, name="passnet-tune", daemon=True)
            _worker.start()
            atexit.register(_waiting.put, None)


_waiting: queue.Queue = queue.Queue()
_worker: threading.Thread | None = None
_worker_lock = threading.Lock()


def _work() -> None:
    while (job := _waiting.get()) is not None:
        form, options = job
        try:
            _tune_form(form, options.budget_s, options.cache_dir, False, backend.log.info)
        except Error as error:
            backend.log.warning("a graph was not tuned: %s", error.message)


def _report(model: Callable, args: Any, look: Callable[[Form], tuple[cache.Entry | None, str]]) -> Report:
    programs.require_torch()
    rows: dict[str, Row] = {}

    def see(module: torch.fx.GraphModule, inputs: list[Any]) -> None:
        name, operators = f"graph {len(rows)}", sum(node.op.startswith("call_") for node in module.graph.nodes)
        try:
            reason = backend._refusal(module, inputs)
            form = form_as_run(module, inputs)
            key = form.key()
        except CaptureFailure as failure:
            reason, key = str(failure), name
        if key in rows:
            return
        if reason:
            rows[key] = Row(name, operators, "eager", reason)
            return
        entry, why = look(form)
        if entry is None:
            rows[key] = Row(name, operators, "unknown", why)
        else:
            rows[key] = Row(name, operators, entry.status, entry.why, tuple(entry.passes), entry.ratio, entry.interval, entry.error, entry.of_eager)

    trace_all(model, args, see)
    return Report(list(rows.values()))


def _tune_form(form: Form, budget_s: float, cache_dir: str | None, again: bool, watch: Callable[[str], None]) -> tuple[cache.Entry | None, str]:
    known, _ = cache.find(form, cache_dir)
    if known is not None and not again:
        return known, ""
    with _unfinished(form, cache_dir) as out, tempfile.TemporaryDirectory(prefix="passnet-tune-") as scratch:
        by_others, _ = cache.find(form, cache_dir)
        if by_others is not None and by_others != known:
            return by_others, ""
        sample = Path(scratch) / "sample"
        write(form, GRAPH, sample / "graphs" / GRAPH)
        command = ["author", sample, "-o", out, "--resume", "--time-limit", budget_s, "--device", form.place]
        report = programs.run(command, accept=(0, 1, 4), watch=watch)[0]
        if report["unmeasured"]:
            return None, f"it could not be measured: {next(iter(report['unmeasured'].values()))}; tune it again"
        made = out / report["sample"]
        entry = _judged(report, made)
        if entry.status == "declined" and report["budget"] and report["budget"]["ended"]:
            return None, f"the budget of {budget_s} s ended before a pass was proven, which takes longer beside other work; tune it again to go on"
        if entry.status == "used":
            shutil.copytree(made / "pass_dir", sample / "pass_dir")
            entry.plan, why = cache.plan_of(sample, GRAPH, form.place)
            if entry.plan is None:
                entry = cache.Entry("declined", why)
        cache.store(form, entry, sample / "pass_dir", made / "records.jsonl", cache_dir)
        shutil.rmtree(made)
    return entry, ""


@contextlib.contextmanager
def _unfinished(form: Form, cache_dir: str | None) -> Iterator[Path]:
    """A directory for the results of this graph, for one caller at a time. An interrupt leaves what was judged by then."""
    place = cache.directory(cache_dir) / "unfinished" / form.key()
    place.mkdir(parents=True, exist_ok=True, mode=0o700)
    with (place / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield place


def _judged(report: dict[str, Any], made: Path) -> cache.Entry:
    """Makes an entry of the author's report on the one graph of its sample."""
    kept = [one for one in report["passes"] if one["kept"]]
    if not kept:
        reasons = [f"{one['pass']}: {one['why']}" for one in report["passes"]] or list(report["alone"].values())
        return cache.Entry("declined", "; ".join(reasons) or "no pass could be written")
    graph = programs.run(["score", made], needs_torch=False)["graphs"][0]
    precision = report["precision"] or {}
    interval = graph.get("interval")
    return cache.Entry("used", "", [one["pass"] for one in kept], graph.get("speedup"), tuple(interval) if interval else None,
                       precision.get("error"), precision.get("of_eager"))  # fmt: skip


def _trust_form(form: Form, pass_dir: Path, cache_dir: str | None) -> tuple[cache.Entry | None, str]:
    with tempfile.TemporaryDirectory(prefix="passnet-trust-") as scratch:
        sample = Path(scratch) / "sample"
        write(form, GRAPH, sample / "graphs" / GRAPH)
        shutil.copytree(pass_dir, sample / "pass_dir")
        found = check(sample, device=str(form.place))["graphs"][0]
        if found["problem"] and found["sites"]:
            raise BadPass(f"the passes in '{pass_dir}' are not right here: {found['problem']}", "bad-pass")
        plan, why = cache.plan_of(sample, GRAPH, form.place)
        if plan is None:
            return None, why
        names = json.loads((pass_dir / "sorted_output_pass_rule_names.json").read_text())
        entry = cache.Entry("trusted", passes=names, plan=plan)
        cache.store(form, entry, pass_dir, None, cache_dir)
    return entry, ""
