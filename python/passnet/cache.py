"""Passes that were judged on this machine, by the graph that they are for (docs/python.md, "The cache")."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import shutil
import stat
import tempfile
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Iterator

import torch

from . import programs
from .build_facts import VERSION
from .errors import ResourceError
from .form import Form

FORMAT = 1
UNKNOWN = "no passes are known for it; passnet.tune(model, args) writes them"
generation = 0  # changes with every entry that this process stores


@dataclass
class Entry:
    """The passes of one graph with inputs of one kind, and how they were judged.

    status: "used" (passes were judged, right and faster), "trusted" (the user vouches for them) or "declined". why: of a graph that
    is declined. ratio, interval: time before over after. error, of_eager: largest errors against float64, of the passes and
    of PyTorch. plan: what passnet._C runs. files: SHA-256 of each file of pass_dir.
    """

    status: str
    why: str = ""
    passes: list[str] = field(default_factory=list)
    ratio: float | None = None
    interval: tuple[float, float] | None = None
    error: float | None = None
    of_eager: float | None = None
    plan: dict[str, Any] | None = None
    files: dict[str, str] = field(default_factory=dict)


def directory(cache_dir: str | Path | None) -> Path:
    """Raises ResourceError for a directory that cannot be made, or that others can write to: its kernels run in this process."""
    path = Path(cache_dir).expanduser() if cache_dir else Path(os.environ.get("PASSNET_HOME") or Path.home() / ".cache" / "passnet") / "passes"
    try:
        path.mkdir(parents=True, exist_ok=True, mode=0o700)
        found = path.stat()
    except OSError as problem:
        raise ResourceError(f"the cache '{path}' cannot be made: {problem.strerror}", "resource", "set PASSNET_HOME, or give another cache_dir") from problem
    if found.st_uid not in (os.geteuid(), 0) or found.st_mode & stat.S_IWOTH:
        raise ResourceError(f"the cache '{path}' can be written to by others, expected a directory of this user alone", "resource",
                            f"chmod o-w '{path}', or give another cache_dir")  # fmt: skip
    return path


def facts_of(form: Form) -> dict[str, Any]:
    """An entry holds for these alone."""
    return {"format": FORMAT, "graph": form.identity, "inputs": form.types, "torch": torch.__version__, "passnet": VERSION,
            "device": form.device}  # fmt: skip


def find(form: Form, cache_dir: str | Path | None) -> tuple[Entry | None, str]:
    """The entry of a graph, or None and why there is none that may be used."""
    root = directory(cache_dir)
    with _locked(root, fcntl.LOCK_SH):
        if not (root / form.key() / "entry.json").exists():
            return None, UNKNOWN
        try:
            return _read(form, root / form.key())
        except (OSError, ValueError, TypeError, KeyError, AttributeError):
            return None, f"'{root / form.key() / 'entry.json'}' is damaged; passnet.tune(model, args) replaces it"


@contextlib.contextmanager
def _locked(root: Path, how: int) -> Iterator[None]:
    """Keeps writers of a cache from each other and from readers. Nobody writes to one that this user cannot write to."""
    with contextlib.ExitStack() as held:
        with contextlib.suppress(OSError):
            fcntl.flock(held.enter_context((root / "lock").open("a")), how)
        yield


def _read(form: Form, home: Path) -> tuple[Entry | None, str]:
    stored = json.loads((home / "entry.json").read_text())
    expected = facts_of(form)
    for name, value in expected.items():
        if stored.get(name) != value:
            return None, f"its passes are for {name} {stored.get(name)}, found {value}"
    entry = Entry(**stored["entry"])
    if hashes_of(home / "pass_dir") != entry.files:
        return None, f"the passes in '{home / 'pass_dir'}' are not those that were judged"
    return entry, ""


def store(form: Form, entry: Entry, pass_dir: Path | None, records: Path | None, cache_dir: str | Path | None) -> Path:
    """Replaces the entry of a graph. Returns its directory."""
    global generation
    root = directory(cache_dir)
    home = root / form.key()
    with tempfile.TemporaryDirectory(prefix=".new-", dir=root) as scratch:
        made = Path(scratch) / "entry"
        made.mkdir()
        (made / "model.py").write_text(form.text)
        if pass_dir and pass_dir.exists():
            shutil.copytree(pass_dir, made / "pass_dir")
        if records and records.exists():
            shutil.copy(records, made / "records.jsonl")
        entry.files = hashes_of(made / "pass_dir")
        (made / "entry.json").write_text(json.dumps({**facts_of(form), "entry": asdict(entry)}, indent=1) + "\n")
        with _locked(root, fcntl.LOCK_EX):
            shutil.rmtree(home, ignore_errors=True)
            made.rename(home)
    generation += 1
    return home


def hashes_of(pass_dir: Path) -> dict[str, str]:
    files = sorted(path for path in pass_dir.rglob("*") if path.is_file())
    return {str(path.relative_to(pass_dir)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def plan_of(sample: Path, graph: str, place: torch.device) -> tuple[dict[str, Any] | None, str]:
    """The plan of a graph of a sample with its passes, kernels built for a device of this machine; or None and why not."""
    target = "sm_{}{}".format(*torch.cuda.get_device_capability(place)) if place.type == "cuda" else "cpu"
    built = programs.run(["pass", "build", sample, "--device", target, "--plans"])["graphs"]
    made = next(one for one in built if one["graph"].endswith(graph))
    if "problem" in made:
        return None, made["problem"].splitlines()[0]
    return (made["plan"], "") if made["sites"] else (None, "no pass applies to it")
