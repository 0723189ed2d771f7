#!/usr/bin/env python3
"""Counts what PassNet does on a small scale, and simulates the large one: 100,000 models captured, 1,000,000 subgraphs, 10,000
samples evaluated on 1,000 GPUs.

Usage: at_scale.py [--build build] [--samples 10000] [--model-s 10] [--sample-s 60]
The queue, `merge` and `store` are the real ones, with --samples results; strace counts their calls on files. Seconds of a model
and of a sample are given, all other figures are counted here. Prints tables; takes some minutes.
"""

import argparse
import heapq
import json
import os
import random
import re
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import large_records  # noqa: E402

ROOT = Path(__file__).resolve().parent.parent
MODELS, SUBGRAPHS, SAMPLES, GPUS = 100_000, 1_000_000, 10_000, 1_000
BUCKETS = 64  # src/cluster/queue.cpp
POLL_S, LONGEST_POLL_S, LEASE_S, LEASES_TO_WAIT = 2, 16, 120, 1.5  # src/cluster/work.h, work_queue.h
MODELS_OF_A_TASK = 200


def calls_on_files(command):
    """How often a command and its children call the kernel with a path or a directory."""
    with tempfile.NamedTemporaryFile("r") as table:
        subprocess.run(["strace", "-f", "-c", "-o", table.name, "-e", "trace=%file,getdents64", *map(str, command)], check=True, stdout=subprocess.DEVNULL)
        rows = [line.split() for line in table if re.match(r" *[0-9.]+ ", line)]
    return sum(int(row[3]) for row in rows if row[-1] != "total")


class Counted:
    """Measures the real programs on a part of the work."""

    def __init__(self, build, samples, directory):
        self.bin, self.samples, self.directory = build / "bin", samples, directory

    def queue(self):
        """A queue of so many samples with 64 workers, and the calls on files of one that has no others."""
        done = subprocess.run([self.bin / "queue_claims", self.directory / "claims", str(self.samples), "64"], check=True, stdout=subprocess.PIPE, text=True)
        self.claims = json.loads(done.stdout)
        few, many = (calls_on_files([self.bin / "queue_claims", self.directory / f"calls{items}", items, 1]) for items in (100, 1100))
        self.calls_per_item = (many - few) / 1000
        places = [path for path, _, _ in os.walk(self.directory / "claims" / "queue")]
        self.largest_directory = max(len(os.listdir(path)) for path in places)
        files = {os.stat(os.path.join(path, name)).st_ino for path, _, names in os.walk(self.directory / "claims" / "queue") for name in names}
        self.inodes_per_item = len(files) / self.samples

    def merge(self):
        """Results of a queue, one run each, merged and put into a store."""
        runs, merged = self.directory / "runs", self.directory / "merged"
        for i in range(self.samples):
            large_records.write_run(runs / f"{i:05}", 15_000, f"sample_{i:05}")
        self.merge_s, self.merge_mib, code = large_records.measure([self.bin / "passnet-cluster", "merge", *sorted(runs.iterdir()), "-o", merged])
        assert code == 0, "merge failed"
        self.records = sum(path.read_bytes().count(b"\n") for path in merged.glob("*/records.jsonl"))
        self.store_s, self.store_mib, code = large_records.measure([self.bin / "passnet-site", "store", "add", merged, "--store", self.directory / "store"])
        assert code == 0, "store add failed"

    def start(self):
        """Seconds from a command to its first item: the program, and Python with PyTorch, as a capture needs it."""
        self.program_s = min(large_records.measure([self.bin / "passnet", "--help"])[0] for _ in range(3))
        self.torch_s = min(large_records.measure([sys.executable, "-c", "import torch"])[0] for _ in range(3))

    def graphs(self):
        """Files of a captured graph, by those that are shipped."""
        graphs = [path.parent for path in (ROOT / "samples").glob("*/**/model.py")]
        self.files_per_graph = sum(len(list(graph.iterdir())) for graph in graphs) / len(graphs)


def simulate(seconds, gpus, calls_per_item, former):
    """Workers that take samples until none is left. former: all look every 2 s until the last sample is done, and each looks at all
    claims for lost ones; else they look less and less often, end after some leases, and one of them looks in a quarter of a lease.
    Returns the end, seconds of all that evaluate and that wait, and calls on the file server: in all, and in the worst second."""
    drawn = random.Random(1)
    waiting = [drawn.lognormvariate(0, 0.8) * seconds for _ in range(SAMPLES)]
    ready = [(drawn.random() * 5, gpu, POLL_S, 0) for gpu in range(gpus)]
    heapq.heapify(ready)
    calls, ends, busy, idle, looked = {}, [], 0, 0, -LEASE_S
    while ready:
        now, gpu, poll, waited = heapq.heappop(ready)
        second = int(now)
        if waiting:
            took = waiting.pop()
            busy += took
            heapq.heappush(ends, now + took)
            calls[second] = calls.get(second, 0) + calls_per_item + took / (LEASE_S / 4)
            heapq.heappush(ready, (now + took, gpu, POLL_S, 0))
            continue
        while ends and ends[0] <= now:
            heapq.heappop(ends)
        looks = former or now - looked >= LEASE_S / 4
        calls[second] = calls.get(second, 0) + BUCKETS + 6 + (2 * len(ends) if looks else 0)
        looked = now if looks else looked
        if ends and (former or waited <= LEASES_TO_WAIT * LEASE_S):
            idle += poll
            heapq.heappush(ready, (now + poll, gpu, poll if former else min(2 * poll, LONGEST_POLL_S), waited + poll))
    return now, busy, idle, sum(calls.values()), max(calls.values())


def table(title, rows):
    print(f"\n## {title}\n\n| figure | value |\n|---|---|")
    for what, value in rows:
        print(f"| {what} | {value} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=ROOT / "build")
    parser.add_argument("--samples", type=int, default=SAMPLES)
    parser.add_argument("--model-s", type=float, default=10, help="seconds that the capture of a model takes, without its start")
    parser.add_argument("--sample-s", type=float, default=60, help="median seconds of a sample on a GPU")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        counted = Counted(given.build, given.samples, Path(directory))
        for step in (counted.queue, counted.merge, counted.start, counted.graphs):
            step()
    table(f"Counted, {given.samples} samples", (
        ("claims a second, 64 workers on a local disk", f"{counted.claims['claims_per_s']:,}"),
        ("claimed twice, never", f"{counted.claims['claimed_twice']}, {counted.claims['never_claimed']}"),
        ("calls on files per item: added, claimed, finished", f"{counted.calls_per_item:.1f}"),
        ("inodes per item of a queue", f"{counted.inodes_per_item:.2f}"),
        ("names in the largest directory", f"{counted.largest_directory:,}"),
        (f"merge of {counted.records:,} records", f"{counted.merge_s:.1f} s, {counted.merge_mib:.0f} MiB"),
        ("records a second into a store", f"{counted.records / counted.store_s:,.0f}")))
    models_alone = MODELS * (given.model_s + counted.torch_s) / 3600
    models_together = (MODELS * given.model_s + MODELS / MODELS_OF_A_TASK * counted.torch_s) / 3600
    table("100,000 models, 1,000,000 subgraphs", (
        ("machine hours, a task for each model", f"{models_alone:,.0f}, {MODELS * counted.torch_s / 3600:,.0f} of them starts"),
        (f"machine hours, {MODELS_OF_A_TASK} models a task", f"{models_together:,.0f}, {MODELS / MODELS_OF_A_TASK * counted.torch_s / 3600:,.1f} of them starts"),
        ("inodes of the graphs", f"{SUBGRAPHS * counted.files_per_graph / 1e6:.1f} million"),
        ("inodes of a queue of them", f"{SUBGRAPHS * counted.inodes_per_item / 1e6:.1f} million"),
        ("names in a directory of that queue", f"{SUBGRAPHS / BUCKETS:,.0f}"),
        ("seconds to add them to a queue", f"{SUBGRAPHS / counted.claims['adds_per_s']:,.0f}"),
        ("seconds to store a record of each", f"{SUBGRAPHS * counted.store_s / counted.records:,.0f}")))
    for title, former in (("each looks every 2 s and at all claims, to the end", True), ("as it is", False)):
        end, busy, idle, calls, worst = simulate(given.sample_s, GPUS, counted.calls_per_item, former)
        table(f"10,000 samples on 1,000 GPUs: {title}", (
            ("hours to the end", f"{end / 3600:.2f}"),
            ("GPU hours: evaluating, waiting for the end", f"{busy / 3600:.0f}, {idle / 3600:.0f}"),
            ("starts, GPU hours", f"{SAMPLES * counted.program_s / 3600:.2f}"),
            ("calls on the file server", f"{calls:,.0f}"),
            ("calls in the worst second", f"{worst:,.0f}")))


if __name__ == "__main__":
    main()
