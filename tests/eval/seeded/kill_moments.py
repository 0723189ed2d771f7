"""Kills commands at random moments (kill -9) and resumes them: nothing may be lost, doubled or left behind.

Run it by hand with PASSNET_BINARY_DIR=build: kill_moments.py [--seed N] [--moments N] [COMMAND...]. A moment is a share of the time that
the command takes undisturbed; then `--resume` must end as that did, with the same names in its journal and the same files.
"""

import argparse
import collections
import json
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

SOURCE = pathlib.Path(os.environ["PASSNET_SOURCE_DIR"])
sys.path[:0] = [str(SOURCE / "tests" / "eval"), str(SOURCE / "tests" / "agent")]

from passnet_case import BINARY, KERNEL, META, MODEL, PASS, RIGHT_BODY
from scripted_server import Calls, ScriptedServer, answers_so_far, create_all

QUICK = ["--warmup", "1", "--trials", "2"]
TOY = """\
import torch

def toy():
    return [(f"b{rows}", torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.ReLU(), torch.nn.LayerNorm(8), torch.nn.GELU()),
             {"input": torch.randn(rows, 8)}) for rows in (1, 2)]
"""
PASSES = {"add_relu.py": PASS, "add_relu.cpp": KERNEL % RIGHT_BODY, "sorted_output_pass_rule_names.json": '["add_relu"]'}


def play_model(request, number):
    """Writes the pass, evaluates it and submits it."""
    steps = [create_all(PASSES), Calls([("pass_evaluator", {})]), Calls([("submit", {})])]
    return steps[min(answers_so_far(request), 2)]


def names_in(out, pattern, key):
    """How often each name stands in the lines of JSON of these files."""
    found = collections.Counter()
    for file in out.glob(pattern):
        found.update(json.dumps(json.loads(line).get(key)) for line in file.read_text().splitlines() if line.strip())
    return found


class Subject:
    """A command with what it works on, and what tells whether its results are whole."""

    def __init__(self, name, root, server):
        self.name, self.root, self.server = name, root, server
        self.sample = root / "sample"
        self.tmp = root / "tmp"
        self.tmp.mkdir()
        self.usual = set()  # what is in there after an undisturbed run, such as PyTorch's cache
        self.write_inputs()

    def write_inputs(self):
        for number in range(3):
            graph = self.sample / "graphs" / f"g{number}"
            graph.mkdir(parents=True)
            (graph / "model.py").write_text(MODEL)
            (graph / "weight_meta.py").write_text("\n".join(META.format(name=name, shape=f"4{number}, 50") for name in ("in_0", "in_1")))
        (self.sample / "graph_list.txt").write_text("g0\ng1\ng2\n")
        (self.sample / "pass_dir").mkdir()
        for name, text in PASSES.items():
            (self.sample / "pass_dir" / name).write_text(text)
        (self.root / "toy.py").write_text(TOY)
        if self.name in ("samples", "decompose"):
            self.prepare("dataset", "capture", "--from", f"{self.root / 'toy.py'}:toy", "--out", self.root / "full")
        if self.name == "samples":
            self.prepare("dataset", "decompose", self.root / "full", "--out", self.root / "parts")

    def prepare(self, *arguments):
        subprocess.run([BINARY, *map(str, arguments)], check=True, capture_output=True, env=self.environment())

    def command(self, out):
        return {
            "eval": ["eval", self.sample, "--out", out, "--timeout", "60", *QUICK],
            "author": ["author", self.sample, "--out", out, *QUICK],
            "capture": ["dataset", "capture", "--from", f"{self.root / 'toy.py'}:toy", "--out", out],
            "decompose": ["dataset", "decompose", self.root / "full", "--out", out],
            "samples": ["dataset", "samples", self.root / "parts", "--out", out, "--min-ops", "1"],
            "agent": ["agent", "run", self.sample, "--model", "m", "--base-url", self.server.url, "--first-wait", "0.01", "-o", out, *QUICK],
        }[self.name]

    def environment(self):
        return {**os.environ, "TMPDIR": str(self.tmp), "OPENAI_API_KEY": "k", "NO_PROXY": "127.0.0.1"}

    def start(self, out, *more):
        return subprocess.Popen([BINARY, *map(str, self.command(out)), *more], env=self.environment(), stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True)

    def whole(self, out):
        """Returns the names in journals and the files, which no kill may change."""
        journals = {"eval": ("*/records.jsonl", "graph"), "capture": ("journal.jsonl", "model"), "decompose": ("decompose.jsonl", "graph"),
                    "samples": ("samples.jsonl", "sample"), "agent": ("trajectories.jsonl", "sample_path")}
        # Names with a time or a hash in them differ from run to run. On a busy machine graphs are measured again.
        files = {re.sub(r"\d{4}-\d\d-\d\dT[\d-]+|[0-9a-f]{16,}", "*", str(path.relative_to(out))) for path in out.rglob("*") if path.is_file()}
        files = {file for file in files if not re.search(r"/records\.superseded\.jsonl$|/evaluations/step_3_1/|/winner/", file)}
        if self.name == "author":  # its times decide what it keeps
            reports = collections.Counter(str(path.relative_to(out)) for path in out.glob("*/author.json"))
            return reports, {file for file in files if "/pass_dir/" not in file}
        return names_in(out, *journals[self.name]), files

    def left(self, out):
        """Temporary files and processes that nobody removes."""
        kept = [str(path) for path in self.tmp.iterdir() if path not in self.usual]
        kept += [str(path) for path in out.rglob("*") if re.search(r"\.tmp\d+$|^\..+\.\d+$|\.partial$", path.name)]
        return kept + processes_with(str(self.root))


def processes_with(text):
    """Processes whose command line has `text`, but for this one."""
    found = []
    for entry in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            line = (entry / "cmdline").read_bytes().decode(errors="replace")
        except OSError:
            continue
        if text in line and int(entry.name) != os.getpid():
            found.append(f"process {entry.name}: {line[:80]!r}")
    return found


def kill_at(subject, out, seconds):
    """Returns: whether it still ran."""
    process = subject.start(out)
    try:
        process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        os.kill(process.pid, signal.SIGKILL)
        process.communicate()
        return True
    return False


def problems_of(name, moments, pick, server, progress=print):
    """Kills `name` at so many random moments; returns what was wrong, as texts."""
    found = []
    root = pathlib.Path(tempfile.mkdtemp(prefix="passnet-kill-"))
    try:
        subject = Subject(name, root, server)
        begun = time.monotonic()
        first = subject.start(root / "whole")
        said = first.communicate()[0]
        took = time.monotonic() - begun
        expected = subject.whole(root / "whole")
        subject.usual = set(subject.tmp.iterdir())
        if first.returncode not in (0, 1) or not expected[0]:
            return [f"{name}: exit code {first.returncode}, {expected[0]}: {said[-500:]}"]
        for number in range(moments):
            out = root / f"out{number}"
            share = pick.random()
            killed = kill_at(subject, out, share * took)
            resumed = subject.start(out, *(["--resume"] if out.exists() else []))
            said = resumed.communicate()[0]
            deadline = time.monotonic() + 10
            while (left := subject.left(out)) and time.monotonic() < deadline:
                time.sleep(0.1)
            names, files = subject.whole(out)
            what = f"{name}: killed at {share:.3f} of {took:.1f} s" if killed else f"{name}: ended before it was killed"
            wrong = []
            if resumed.returncode != first.returncode:
                wrong.append(f"--resume ended with {resumed.returncode}, expected {first.returncode}: {said[-500:]}")
            if names != expected[0]:
                wrong.append(f"lost {expected[0] - names}, doubled {names - expected[0]}")
            if files != expected[1]:
                wrong.append(f"missing files {sorted(expected[1] - files)[:5]}, others {sorted(files - expected[1])[:5]}")
            if left:
                wrong.append(f"left {left[:5]}")
            if name == "eval" and subprocess.run([BINARY, "verify", str(out)], capture_output=True).returncode != 0:
                wrong.append("the run does not verify")
            progress(f"{what}: {'; '.join(wrong) or 'fine'}")
            found += [f"{what}: {one}" for one in wrong]
            shutil.rmtree(out, ignore_errors=True)
    finally:
        shutil.rmtree(root, ignore_errors=True)
    return found


def find_problems(names, moments, seed, progress=print):
    pick = random.Random(seed)
    with ScriptedServer(play_model) as server:
        return [problem for name in names for problem in problems_of(name, moments, pick, server, progress)]


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--seed", type=int, default=random.randrange(1 << 32))
    arguments.add_argument("--moments", type=int, default=50)
    arguments.add_argument("commands", nargs="*", default=["eval", "author", "capture", "decompose", "samples", "agent"])
    given = arguments.parse_args()
    found = find_problems(given.commands, given.moments, given.seed, lambda text: print(text, flush=True))
    print(f"seed {given.seed}: {len(found)} problems", *found, sep="\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
