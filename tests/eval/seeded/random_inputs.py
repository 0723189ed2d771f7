"""Random bad paths, files and JSON for every command: none may end as a bug (exit 70), hang or eat memory.

Run it by hand with PASSNET_BINARY_DIR=build: random_inputs.py [--seed N] [--count N]. The cases are those of the seed, in order.
"""

import argparse
import dataclasses
import json
import os
import pathlib
import random
import re
import resource
import shutil
import socket
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))

from command_tree import help_of, leaves, options_of
from passnet_case import BINARY, KERNEL, META, MODEL, PASS, RIGHT_BODY
from recorded_run import RECORDED

MOST_SECONDS = 10
MOST_MIB = 500
# They import PyTorch in Python, which takes seconds and more memory than all else: one in so many rounds.
SELDOM = {"doctor", "dataset capture"}
ROUNDS = 20
PYTHON_MIB = 1000
# They evaluate or serve what they can read, which takes long, and get nothing that they can.
EVALUATING = {"eval", "author", "pass check", "reproduce", "leaderboard score", "agent run", "agent replay", "pass new", "pass build",
              "dataset official", "mcp", "reward", "serve", "dataset capture"}
# Without these it runs the built-in corpus, and with --calibrate it measures the machine.
GIVEN = {"selftest": ["--filter", "absent"]}
NEVER = {"--help", "--listen", "--filter", "--calibrate"}
NUMBERS = ["0", "-1", "1", "2", "1e999", "nan", "99999999999999999999", "0x10", "", "1.5", "x", "١", "1 2"]
JSON_VALUES = [None, True, -1, 0, 2**63, 2**64, -2**63, 1e308, 0.5, "", "x" * 300, "\ud800", "../..", "a\nb", [], {}, [[[[]]]], ["a"], {"a": 1}]


@dataclasses.dataclass
class Outcome:
    command: list
    code: int
    seconds: float
    mib: float
    said: str  # on stdout and stderr
    imports_pytorch: bool = False

    def problem(self):
        if self.command[0] == "serve" and "http://127.0.0.1" in self.said:
            return None  # a directory without runs is served until there are some
        if self.seconds > MOST_SECONDS:
            return f"took more than {MOST_SECONDS} s"
        if self.mib > (PYTHON_MIB if self.imports_pytorch else MOST_MIB):
            return f"took {self.mib:.0f} MiB"
        if self.code not in (0, 1, 2, 3, 4, 5):
            return f"ended with exit code {self.code}"
        return None if self.code == 0 or self.said.strip() else f"ended with exit code {self.code} and said nothing"


def changed(pick, content):
    """The bytes with a value of their JSON, or some of them, replaced, dropped or doubled."""
    if pick.random() < 0.5:
        text = content.decode(errors="replace")
        lines = text.splitlines() or [""]
        at = pick.randrange(len(lines))
        try:
            lines[at] = json.dumps(changed_json(pick, json.loads(lines[at])))
            return "\n".join(lines).encode(errors="surrogatepass") + b"\n"
        except ValueError:
            pass
    data = bytearray(content or b"x")
    for _ in range(pick.choice([1, 3, 20])):
        at = pick.randrange(len(data))
        how = pick.randrange(4)
        if how == 0:
            data[at] = pick.randrange(256)
        elif how == 1:
            del data[at:at + pick.randrange(1, 50)]
            data = data or bytearray(b"x")
        elif how == 2:
            data[at:at] = data[pick.randrange(len(data)):][:pick.randrange(1, 50)]
        else:
            data[at:at] = pick.choice([b"(", b"[", b'"', b"\x00", b"\n", b"9" * 30, b"\xff", b"-", b"{"]) * pick.choice([1, 2, 1000])
    return bytes(data)


def changed_json(pick, value):
    """The value with one of those in it replaced or dropped."""
    if isinstance(value, dict) and value and pick.random() < 0.85:
        key = pick.choice(sorted(value))
        if pick.random() < 0.1:
            return {name: one for name, one in value.items() if name != key}
        return {**value, key: changed_json(pick, value[key])}
    if isinstance(value, list) and value and pick.random() < 0.7:
        at = pick.randrange(len(value))
        return [*value[:at], changed_json(pick, value[at]), *value[at + 1:]]
    return pick.choice(JSON_VALUES)


class Inputs:
    """A directory with places of all kinds, and random choices among them."""

    def __init__(self, root, seed):
        self.root = root
        self.random = random.Random(seed)
        self.made = 0
        shutil.copytree(RECORDED / "three_graphs", root / "run")
        graph = root / "sample" / "graphs" / "small"
        graph.mkdir(parents=True)
        (graph / "model.py").write_text(MODEL)
        (graph / "weight_meta.py").write_text("\n".join(META.format(name=name, shape="40, 50") for name in ("in_0", "in_1")))
        (root / "sample" / "graph_list.txt").write_text("small\n")
        passes = root / "sample" / "pass_dir"
        passes.mkdir()
        (passes / "add_relu.py").write_text(PASS)
        (passes / "add_relu.cpp").write_text(KERNEL % RIGHT_BODY)
        (passes / "sorted_output_pass_rule_names.json").write_text('["add_relu"]')
        self.good = [path for path in sorted(root.rglob("*")) if path.is_file()]
        self.bad = self.write_bad_places()
        self.kept = set(root.rglob("*"))

    def write_bad_places(self):
        root = self.root
        for name in ("loop_a", "loop_b"):
            os.symlink(root / ("loop_b" if name == "loop_a" else "loop_a"), root / name)
        os.symlink(root / "nowhere", root / "broken_link")
        (root / "empty").mkdir()
        (root / "empty_file").write_text("")
        (root / "noise").write_bytes(bytes(range(256)) * 20)
        (root / "deep.json").write_text("[" * 100_000)
        (root / "directories" / "model.py").mkdir(parents=True)
        (root / "directories" / "records.jsonl").mkdir()
        os.mkfifo(root / "pipe")
        (root / "pipes").mkdir()
        for name in ("model.py", "records.jsonl", "graph_list.txt", "run.jsonl", "trajectory.jsonl"):
            os.mkfifo(root / "pipes" / name)
        with socket.socket(socket.AF_UNIX) as listening:
            listening.bind(str(root / "socket"))
        os.makedirs(os.fsencode(root) + b"/\xff\xfe")
        with open(root / "hole", "wb") as hole:
            hole.truncate(1 << 40)
        names = ["absent", "absent/deeper", "loop_a", "loop_a/x", "broken_link", "empty", "empty_file", "empty_file/x", "noise", "deep.json",
                 "directories", "pipe", "pipes", "socket", "hole", "a\nb", "-", "*", "~", "x" * 300, "x/" * 3000]
        return [*(str(root / name) for name in names), "", ".", "/dev/null", "/dev/full", "/proc/self/mem", "/proc/none/x", b"/\xff\xfe"]

    def remove_new(self):
        """Removes what commands wrote: a bad place that they fill is none for the next command."""
        for path in sorted(set(self.root.rglob("*")) - self.kept, reverse=True):
            path.rmdir() if path.is_dir() and not path.is_symlink() else path.unlink()

    def mutated(self):
        """A copy of the run or the sample in which one file is changed; its directory or that file."""
        self.made += 1
        copy = self.root / f"changed{self.made}"
        kind = self.random.choice(["run", "sample"])
        shutil.copytree(self.root / kind, copy)
        file = self.random.choice([path for path in sorted(copy.rglob("*")) if path.is_file()])
        file.write_bytes(changed(self.random, file.read_bytes()))
        return str(self.random.choice([copy, file, file.parent]))

    def path(self, command):
        chance = self.random.random()
        if command not in EVALUATING and chance < 0.6:
            return self.mutated()
        if command not in EVALUATING and chance < 0.7:
            return str(self.random.choice([self.root / "run", self.root / "sample", *self.good]))
        return self.random.choice(self.bad)

    def value(self, command):
        return self.random.choice([self.path(command), self.random.choice(NUMBERS), self.random.choice(NUMBERS)])

    def command(self, command):
        """A command line: a path for each positional, and some options with values that mostly do not fit."""
        given = [*command.split(), *GIVEN.get(command, [])]
        positionals = re.search(r"^Positionals:\n((?:  .*\n)+)", help_of(command), re.MULTILINE)
        for line in re.findall(r"^  ([A-Z]\w*.*)", positionals[1], re.MULTILINE) if positionals else []:
            if "REQUIRED" in line or self.random.random() < 0.5:
                given.append(self.path(command))
        options = options_of(command)
        required = [name for name, line in options.items() if "REQUIRED" in line]
        others = [name for name in options if name not in NEVER]
        for name in {*required, *self.random.sample(others, min(len(others), self.random.choice([0, 0, 1, 2])))}:
            given.append(name)
            if re.search(r"\b(TEXT|INT|UINT|FLOAT)\b", options[name].split(" Excludes")[0]):
                given.append(self.value(command))
        return given


def run(arguments, root):
    """Runs a command below `root` alone, with a terminal's patience."""
    env = {**os.environ, "HOME": str(root / "home"), "PASSNET_HOME": str(root / "home"), "TMPDIR": str(root / "tmp")}
    command = [BINARY, *arguments]
    begun = time.monotonic()
    with open(root / "said", "w+b") as said:
        process = subprocess.Popen(command, cwd=root / "work", env=env, stdin=subprocess.DEVNULL, stdout=said, stderr=said,
                                   start_new_session=True)
        usage = None
        while usage is None and time.monotonic() - begun < MOST_SECONDS + 2:
            pid, status, found = os.wait4(process.pid, os.WNOHANG)
            if pid:
                usage = found
            else:
                time.sleep(0.002)
        if usage is None:
            os.killpg(process.pid, 9)
            _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        seconds = time.monotonic() - begun
        said.seek(0)
        text = said.read(100_000).decode(errors="replace")
    return Outcome(arguments, process.returncode, seconds, usage.ru_maxrss / 1024, text)


def find_problems(seed, count, progress=None):
    """Runs `count` random commands. Returns those that ended as none may, as texts."""
    found = []
    root = pathlib.Path(tempfile.mkdtemp(prefix="passnet-random-"))
    try:
        for name in ("work", "home", "tmp"):
            (root / name).mkdir()
        inputs = Inputs(root, seed)
        usual = [command for command in leaves() if command not in SELDOM]
        commands = [*usual * ROUNDS, *sorted(SELDOM)]
        for number in range(count):
            command = commands[number % len(commands)]
            outcome = run(inputs.command(command), root)
            outcome.imports_pytorch = command in SELDOM
            if problem := outcome.problem():
                kept = root.with_name(f"{root.name}-kept")
                found.append(f"case {number} of seed {seed}: {outcome.command}: {problem}\n{outcome.said[-600:]}")
                for path in outcome.command:
                    part = next((one for one in pathlib.Path(os.fsdecode(path)).parts if one.startswith("changed")), None)
                    if part and progress and (root / part).exists():
                        shutil.copytree(root / part, kept / f"{number}-{part}", dirs_exist_ok=True)
                if progress:
                    progress(found[-1])
            inputs.remove_new()
    finally:
        shutil.rmtree(root, ignore_errors=True)
    return found


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--seed", type=int, default=random.randrange(1 << 32))
    arguments.add_argument("--count", type=int, default=10_000)
    given = arguments.parse_args()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    found = find_problems(given.seed, given.count, lambda text: print(text, flush=True))
    print(f"seed {given.seed}: {given.count} commands, {len(found)} problems")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
