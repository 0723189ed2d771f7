"""Runs whose times are given, not measured: recorded ones of tests/data/runs, and real ones with their times replaced.

A recorded run is a directory as `passnet eval` wrote it. Its paths, machine, program hashes and times are made up.
"""

import hashlib
import json
import os
import pathlib
import shutil

RECORDED = pathlib.Path(os.environ["PASSNET_SOURCE_DIR"]) / "tests" / "data" / "runs"
UNDISTURBED = {"known": True, "block_pairs": 20, "dropped_pairs": 0, "waiting_share": 0.0, "stolen_share": 0.0, "pressure_share": 0.0,
               "involuntary_switches": 0}


def copy_recorded(name, run):
    """Puts a copy of the recorded run `name` at `run`; returns it."""
    return shutil.copytree(RECORDED / name, run)


def load_records(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def steady(median, count=100):
    """Trials of a quiet machine, in microseconds."""
    return [round(median * (1 + 0.0002 * (i % 10 - 4.5)), 6) for i in range(count)]


def timed(record, speedup):
    """The record with steady times of this speedup, on a machine that did nothing else. Failed ones stay as they are."""
    if record["stage"] != "done" or not record["outputs"]:
        return record
    sides = {"reference": 20, "candidate": 20 / speedup}
    changed = {**record, "disturbed": False, "load": UNDISTURBED}
    for side, median in sides.items():
        changed[side] = {key: value for key, value in record[side].items() if key in ("warmup", "mode", "baseline")}
        changed[side].update(trials_us=steady(median, 20), blocks=[1] * 20)
    if "floor" in record:
        changed["floor"] = {**record["floor"], "us": 0.001}
    if "control" in record:
        side = {"warmup": 1, "trials_us": steady(20, 20)}
        changed["control"] = {"reference": side, "candidate": side, "disturbed": False}
    return changed


def write_chained(directory, records):
    """Writes the records of one session, the only one of the run, with their chain, and seals them in aggregated_score.json."""
    (session,) = (directory.parent / "run.jsonl").read_text().splitlines()
    previous, lines = hashlib.sha256(session.encode()).hexdigest(), []
    for number, record in enumerate(records, 1):
        lines.append(json.dumps({**record, "chain": {"number": number, "previous": previous}}, separators=(",", ":")))
        previous = hashlib.sha256(lines[-1].encode()).hexdigest()
    (directory / "records.jsonl").write_text("".join(f"{line}\n" for line in lines))
    score = directory / "aggregated_score.json"
    if score.exists():  # not where the run was killed
        score.write_text(json.dumps({**json.loads(score.read_text()), "records": len(records), "head": previous}))


def settle(directory, speedups=(2.0,)):
    """Replaces the times of a sample's real run by steady ones, on a machine that did nothing else.

    Scores and log are those of the measured times until `eval --resume` writes them anew. speedups: of its graphs in turn.
    """
    records = load_records(directory / "records.jsonl")
    write_chained(directory, [timed(record, speedups[i % len(speedups)]) for i, record in enumerate(records)])
