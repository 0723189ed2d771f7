"""`python -m passnet_capture models`: which models, one process for each, and the journal of what became of them."""

import contextlib
import fnmatch
import gc
import json
import os
import re
import shutil
import signal
import sys
import time
from collections import Counter
from dataclasses import asdict, dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import torch

from .capture import capture
from .causes import first_line
from .journal import Busy, Damaged, Entry, Journal, summary
from .one_model import capture_model
from .pool import Ended, Limits, run_all
from .sources import SourceError, find_source

OK, SOME_FAILED, USAGE, BAD_INPUT, BUSY, INTERRUPTED = 0, 1, 2, 3, 4, 130
RESULT = "result.json"


@dataclass(frozen=True)
class Options:
    source: str
    match: list[str]
    out: Path | None
    jobs: int
    resume: bool
    retry_failed: bool
    timeout: float  # seconds per model
    memory_gb: float  # per model
    shapes: int
    limit: int | None
    only_list: bool
    quiet: bool = False  # no progress
    json: bool = False  # the summary as JSON on stdout


def run(options: Options) -> int:
    try:
        source = find_source(options.source)
    except SourceError as error:
        print(error, file=sys.stderr)
        return BAD_INPUT
    names, missing = select(source.names(), options.match)
    names = names[: options.limit]
    if options.only_list:
        print(json.dumps({"names": names}) if options.json else "\n".join(names))
        return OK if names else BAD_INPUT
    try:
        journal = Journal(options.out)
    except (Busy, Damaged, OSError) as error:
        print(error, file=sys.stderr)
        return BUSY if isinstance(error, Busy) else BAD_INPUT
    facts = {"source": source.name, "library_version": source.library_version, "licence": source.licence,
             "torch_version": torch.__version__.split("+")[0]}  # fmt: skip
    for name, near in missing.items():
        hint = f"did you mean '{near[0]}'?" if near else "run with --list"
        _tell(journal, Entry(name, **facts, cause="not-found", message=f"found no model '{name}' in {options.source}; {hint}"), 0.0, options.quiet)
    wanted = [name for name in names if not (options.resume and _is_done(journal, source.name, name, options.retry_failed))]
    if len(wanted) < len(names):
        print(f"{len(names) - len(wanted)} of {len(names)} models stand in the journal already", file=sys.stderr)
    try:
        _capture(source, wanted, facts, options, journal)
    except KeyboardInterrupt:
        print("interrupted; go on with --resume", file=sys.stderr)
        return INTERRUPTED
    finally:
        entries = [journal.entries[source.name, name] for name in [*missing, *names] if (source.name, name) in journal.entries]
        _report(entries, options)
        journal.close()
    return OK if all(entry.status == "captured" for entry in entries) else SOME_FAILED


def _report(entries: list[Entry], options: Options) -> None:
    captured = [entry for entry in entries if entry.status == "captured"]
    if options.json:
        causes = Counter(entry.cause for entry in entries if entry.status != "captured")
        print(json.dumps({"models": len(entries), "captured": len(captured), "graphs": sum(len(entry.graphs) for entry in captured),
                          "failed": dict(causes), "out": str(options.out)}))  # fmt: skip
    if not options.quiet:
        print(summary(entries), file=sys.stderr)
        if captured:
            print(f"next: passnet dataset build {options.out} --out dataset", file=sys.stderr)


def select(names: list[str], patterns: list[str]) -> tuple[list[str], dict[str, list[str]]]:
    """The names that a pattern matches, in their order, and the patterns that match none with names that are near."""
    patterns = patterns or ["*"]
    chosen = [name for name in names if any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns)]
    missing = [pattern for pattern in patterns if not any(fnmatch.fnmatchcase(name, pattern) for name in names)]
    return chosen, {pattern: get_close_matches(pattern, names, 1) for pattern in missing}


def directory_name(model: str) -> str:
    """A model's name as one directory: whatever is not a letter, a digit, a dot, a dash or an underscore becomes one."""
    return re.sub(r"[^\w.\-]", "_", model).lstrip(".") or "_"


def _is_done(journal: Journal, source: str, name: str, retry_failed: bool) -> bool:
    entry = journal.entries.get((source, name))
    return entry is not None and (entry.status == "captured" or not retry_failed)


def _capture(source, names: list[str], facts: dict[str, Any], options: Options, journal: Journal) -> None:
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # both end like Ctrl-C
    scratch = options.out / ".partial"
    shutil.rmtree(scratch, ignore_errors=True)  # of a run that was killed
    limits = Limits(options.timeout, int(options.memory_gb * (1 << 30)), options.jobs)
    allowed = []
    for name in names:
        reason = source.left_out(name)
        if reason:
            _tell(journal, Entry(name, **facts, cause="unsupported", message=reason), 0.0, options.quiet)
        else:
            allowed.append(name)
    _prepare_to_fork()

    def work(name: str, directory: Path) -> None:
        entry = capture_model(lambda: source.plan(name, options.shapes), {**facts, "model": name},
                              options.out / source.name / directory_name(name), directory / "model", limits.memory_bytes)  # fmt: skip
        (directory / RESULT).write_text(json.dumps(asdict(entry)))

    started = time.monotonic()
    try:
        with contextlib.closing(run_all(allowed, work, limits, scratch)) as ends:
            for count, ended in enumerate(ends, 1):
                entry = _entry(ended, facts, limits)
                if entry.status != "captured":  # what an earlier run may have captured
                    shutil.rmtree(options.out / source.name / directory_name(ended.task), ignore_errors=True)
                _tell(journal, entry, ended.seconds, options.quiet, f"[{count}/{len(allowed)}] ")
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    minutes = (time.monotonic() - started) / 60
    if allowed and not options.quiet:
        print(f"{len(allowed)} models in {minutes * 60:.1f} s: {len(allowed) / minutes:.1f} a minute", file=sys.stderr)


def _prepare_to_fork() -> None:
    """Children start with what every capture needs, and with one thread: threads do not survive a fork."""
    os.environ["HF_HUB_OFFLINE"] = os.environ["TRANSFORMERS_OFFLINE"] = "1"
    torch.set_num_threads(1)
    capture(torch.nn.Linear(2, 2), {"input": torch.ones(1, 2)})
    torch._dynamo.reset()
    gc.collect()
    gc.freeze()


def _entry(ended: Ended, facts: dict[str, Any], limits: Limits) -> Entry:
    """What the child wrote, or why it could not."""
    try:
        entry = Entry(**json.loads((ended.scratch / RESULT).read_text()))
    except (OSError, ValueError):
        entry = Entry(ended.task, **facts)
        if ended.timed_out:
            entry.cause, entry.message = "timeout", f"found it running after {ended.seconds:.0f} s, expected less; raise --timeout"
        elif "MemoryError" in ended.log or "bad_alloc" in ended.log or "can't allocate memory" in ended.log:
            entry.cause = "memory"
            entry.message = f"found no memory left below {limits.memory_bytes >> 20} MiB; raise --memory-gb"
        else:
            how = signal.Signals(-ended.status).name if ended.status < 0 else f"exit status {ended.status}"
            entry.cause, entry.message = "crash", first_line(f"the process ended with {how}: {ended.log.strip().rpartition(chr(10))[2]}")
    entry.seconds, entry.peak_mb = round(ended.seconds, 2), ended.peak_mb
    return entry


def _tell(journal: Journal, entry: Entry, seconds: float, quiet: bool, prefix: str = "") -> None:
    """Quiet: only of failures."""
    journal.append(entry)
    if entry.status == "captured":
        if not quiet:
            print(f"{prefix}{entry.model}: captured, {len(entry.graphs)} graphs, {seconds:.1f} s", file=sys.stderr)
    else:
        print(f"{prefix}{entry.model}: {entry.cause}: {entry.message}", file=sys.stderr)
