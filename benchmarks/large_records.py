#!/usr/bin/env python3
"""Measures how long `score`, `compare`, `verify` and `reproduce` take for records of a given size, and their memory.

Usage: large_records.py [--passnet build/bin/passnet] [--mib 1024] [--out DIRECTORY] [COMMAND...]
Prints a line for each command: seconds, the largest resident memory in MiB and the exit code. The records are those of
a stored run, repeated under other names, in one chain.
"""

import argparse
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

RECORDED = Path(__file__).resolve().parent.parent / "tests" / "data" / "runs" / "three_graphs"
COMMANDS = ("score", "compare", "verify")


def write_run(out: Path, most_bytes: int, name: str = "sample", repeats: int = 5) -> int:
    """Writes a run of one sample with about `most_bytes` of records into `out`, each with its trials so many times, and
    returns how many records there are."""
    patterns = [json.loads(line) for line in (RECORDED / "sample" / "records.jsonl").read_text().splitlines()]
    session = json.loads((RECORDED / "run.jsonl").read_text())
    for pattern in patterns:
        pattern["graph"], pattern["sample"] = "GRAPH", name
        pattern["chain"] = {"number": 4711, "previous": "PREVIOUS"}
        for side in ("reference", "candidate"):
            trials = pattern[side]["trials_us"] * repeats
            pattern[side]["trials_us"] = [us + i / 7000 for i, us in enumerate(trials)]
            pattern[side]["blocks"] = [1] * len(trials)
    texts = [json.dumps(pattern, separators=(",", ":")) for pattern in patterns]
    count = most_bytes * len(texts) // sum(map(len, texts))
    names = [f"graphs/float32/{i}/x_start1_end2_0" for i in range(count)]
    session["samples"][0] |= {"name": name, "graphs": names}
    begun = json.dumps(session, separators=(",", ":"))
    sample = out / name
    sample.mkdir(parents=True)
    (out / "run.jsonl").write_text(begun + "\n")
    previous = hashlib.sha256(begun.encode()).hexdigest()
    with open(sample / "records.jsonl", "w") as records:
        for i, name in enumerate(names):
            line = texts[i % len(texts)].replace("GRAPH", name).replace("PREVIOUS", previous)
            line = line.replace('"number":4711', f'"number":{i + 1}')
            records.write(line + "\n")
            previous = hashlib.sha256(line.encode()).hexdigest()
    return count


def measure(command: list[str]) -> tuple[float, float, int]:
    """Runs a command; returns its seconds, the largest resident memory in MiB, and its exit code."""
    begun = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return time.monotonic() - begun, usage.ru_maxrss / 1024, process.returncode


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--passnet", default="build/bin/passnet")
    arguments.add_argument("--mib", type=int, default=1024, help="size of a run's records")
    arguments.add_argument("--out", type=Path, default=None, help="a directory for the records; default: a temporary one")
    arguments.add_argument("commands", nargs="*", default=COMMANDS, metavar="COMMAND")
    given = arguments.parse_args()
    directory = Path(tempfile.mkdtemp(dir=given.out))
    try:
        count = write_run(directory / "run", given.mib * 1024 * 1024 - 65536)
        print(f"{count} records, {given.mib} MiB")
        for name in given.commands:
            runs = [str(directory / "run")] * (2 if name == "compare" else 1)
            seconds, mib, code = measure([given.passnet, name, *runs])
            print(f"{name:<10}  {seconds:6.1f} s  {mib:7.0f} MiB  exit {code}", flush=True)
    finally:
        shutil.rmtree(directory)
    return 0


if __name__ == "__main__":
    sys.exit(main())
