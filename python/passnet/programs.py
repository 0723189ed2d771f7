"""The native programs of this package, and what they need of PyTorch."""

from __future__ import annotations

import importlib.metadata
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, Callable, Sequence

from .build_facts import TORCH
from .errors import Error, ResourceError

HERE = Path(__file__).absolute().parent
# Commands that run no graph and need no PyTorch.
WITHOUT_TORCH = {"graph", "score", "compare", "verify", "report", "help", "doctor", "leaderboard", "--help", "-h", "--version"}


def minor_of(version: str) -> str:
    return ".".join(version.split("+")[0].split(".")[:2])


def torch_problem() -> Error | None:
    """Why graphs cannot run with the PyTorch of this environment; None: they can."""
    try:
        found = importlib.metadata.version("torch")
    except importlib.metadata.PackageNotFoundError:
        return ResourceError(f"found no PyTorch in this environment, expected torch {minor_of(TORCH)}", "resource",
                             f"pip install 'torch=={minor_of(TORCH)}.*'")  # fmt: skip
    if minor_of(found) == minor_of(TORCH):
        return _place_problem()
    return ResourceError(f"found torch {found}, expected torch {minor_of(TORCH)}: this build of PassNet is linked with its libraries",
                         "resource", f"pip install 'torch=={minor_of(TORCH)}.*', or build PassNet for torch {minor_of(found)} "
                         "(docs/python.md)")  # fmt: skip


def _place_problem() -> Error | None:
    """Why the programs of an installed wheel do not find PyTorch's libraries: they look beside their own package."""
    packages = HERE.parent
    if packages.name not in ("site-packages", "dist-packages") or (packages / "torch").exists():
        return None
    return ResourceError(f"found PyTorch outside of '{packages}', expected it beside the package passnet", "resource",
                         "install both into one environment")  # fmt: skip


def require_torch() -> None:
    """Raises ResourceError where PyTorch is missing or of another minor version."""
    problem = torch_problem()
    if problem:
        raise problem


def path_of(program: str = "passnet") -> Path:
    return HERE / "bin" / program


def environment() -> dict[str, str]:
    """The environment of a program: its Python parts run with this interpreter."""
    return {"PASSNET_PYTHON": sys.executable, **os.environ}


def run(arguments: Sequence[str | os.PathLike], *, needs_torch: bool = True, accept: Sequence[int] = (0, 1),
        watch: Callable[[str], None] = lambda line: None) -> Any:  # fmt: skip
    """Runs `passnet ARGUMENTS --json` and returns what it printed.

    accept: exit codes with a result; 1 says that something evaluated is not right. watch: gets each line of stderr at once.
    Raises Error with the fields of the program's.
    """
    if needs_torch:
        require_torch()
    command = [str(path_of()), *map(str, arguments), "--json"]
    with tempfile.TemporaryDirectory(prefix="passnet-") as scratch:
        error_file = Path(scratch) / "error.json"
        code, printed, said = _run(command, {**environment(), "PASSNET_ERROR_FILE": str(error_file)}, watch)
        if code in accept and printed.strip():
            return _parse(printed)
        fields = json.loads(error_file.read_text()) if error_file.exists() else {}
    place = fields.get("at") or {"file": "", "line": 0, "column": 0}
    lines = said.strip().splitlines() or ["no message"]
    hints = [line.removeprefix("hint: ") for line in lines if line.startswith("hint: ")]
    message = fields.get("message") or ([line for line in lines if not line.startswith("hint: ")] or lines)[-1].removeprefix("error: ")
    raise Error(message, fields.get("failure", "bad-input"), fields.get("hint", "") or " ".join(hints), said.strip(),
                (place["file"], place["line"], place["column"]), code, category=fields.get("kind", ""))  # fmt: skip


def _run(command: Sequence[str], environment: dict[str, str], watch: Callable[[str], None]) -> tuple[int, str, str]:
    """Exit code, stdout and stderr. An exception, as of Ctrl-C, ends the program too."""
    said = []
    with tempfile.TemporaryFile("w+", errors="replace") as printed:
        with subprocess.Popen(command, stdout=printed, stderr=subprocess.PIPE, text=True, errors="replace", env=environment) as process:
            try:
                for line in process.stderr:
                    said.append(line)
                    watch(line.rstrip())
            except BaseException:
                process.terminate()
                raise
        printed.seek(0)
        return process.returncode, printed.read(), "".join(said)


def _parse(text: str) -> Any:
    """One JSON document, or a list of the documents of all lines."""
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        return [json.loads(line) for line in text.splitlines() if line.strip()]
