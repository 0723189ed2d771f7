"""The base of the tests of python/env with real libraries, each in the environment that scripts/trainers made for it."""

import json
import os
import pathlib
import subprocess
import sys

SOURCE = pathlib.Path(os.environ["PASSNET_SOURCE_DIR"])
sys.path[:0] = [str(SOURCE / "tests"), str(SOURCE / "tests" / "eval"), str(SOURCE / "python" / "env")]

from passnet_case import BINARY, KERNEL, PASS, RIGHT_BODY, PassnetCase  # noqa: E402
from tiers import FULL  # noqa: E402

LIST = "sorted_output_pass_rule_names.json"
RIGHT = {"add_relu.py": PASS, "add_relu.cpp": KERNEL % RIGHT_BODY, LIST: '["add_relu"]'}
WRONG = {**RIGHT, "add_relu.cpp": KERNEL % "    out[i] = x[i] + y[i];"}


def enter(library):
    """Goes on in the environment of that library. Ends with the exit code of a skipped test where that cannot be."""
    home = pathlib.Path(os.environ.get("PASSNET_HOME") or "~/.cache/passnet").expanduser() / "trainers" / library
    reason = "" if FULL else "PASSNET_FULL=1 runs it, and so does scripts/trainers"
    if not reason and not (home / "ready").exists():
        reason = f"no {home}: scripts/trainers sets it up"
    if reason:
        print(f"{library}: {reason}")
        sys.exit(77)
    if os.environ.get("PASSNET_TRAINER") != library:
        python = str(home / "bin" / "python3")
        os.execve(python, [python, *sys.argv], {**os.environ, "PASSNET_TRAINER": library})


os.environ["PATH"] = f"{BINARY.parent}:{os.environ['PATH']}"


def answer(files):
    """Files as a model writes them."""
    return "Here is the pass.\n\n" + "\n".join(f"### `{name}`\n```\n{text}\n```" for name, text in files.items())


def writes(files):
    """The arguments of the calls of file_editor that write them."""
    return [{"command": "create", "path": f"pass_dir/{name}", "file_text": text} for name, text in files.items()]


class RewardCase(PassnetCase):
    """With a `passnet reward` that serves the sample, at self.url."""

    def setUp(self):
        super().setUp()
        service = subprocess.Popen([BINARY, "reward", self.sample, "--listen", "0", "--json"], stdout=subprocess.PIPE, text=True)
        self.addCleanup(service.wait)
        self.addCleanup(service.stdout.close)
        self.addCleanup(service.terminate)
        self.url = json.loads(service.stdout.readline())["url"]
