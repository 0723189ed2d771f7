"""What a run on a GPU came to: gpu_summary.py RECORDS LOG. Exit code 1 when a graph is not right or memory was not given back.

RECORDS is a records.jsonl, LOG what `PASSNET_LOG=debug passnet eval` wrote to stderr.
"""

import collections
import json
import re
import statistics
import sys

from gpu_requests import sum_requests

GIB = 1 << 30
MIB = 1 << 20
CORRECT_T = -5


def is_right(record):
    outputs = record["outputs"]
    same = all(o["passes_from"] <= CORRECT_T and o["expected_shape"] == o["found_shape"] for o in outputs)
    return record["stage"] == "done" and not record["error_kind"] and same and record["deterministic"]


def main(records_path, log_path):
    with open(records_path) as file:
        records = [json.loads(line) for line in file]
    with open(log_path, errors="replace") as file:
        log = file.read()
    wrong = [record for record in records if not is_right(record)]
    seconds = [record["evaluate_seconds"] for record in records]
    print(f"{len(records)} graphs, {len(records) - len(wrong)} correct, {sum(bool(r.get('retried')) for r in records)} tried again")
    print(f"{sum(seconds) / len(seconds):.3f} s per graph (median {statistics.median(seconds):.3f}, most {max(seconds):.2f})")
    starts = len(re.findall(r"started as process", log))
    print(f"{starts} processes started, {starts / len(records):.4f} per graph")
    modes = collections.Counter(record["candidate"].get("mode", "not timed").split(": ")[0] for record in records)
    print("candidate's calls: " + ", ".join(f"{count} {mode}" for mode, count in modes.most_common()))
    took = {of: seconds for of, (seconds, _, _) in sum_requests(log).items()}
    print("most time: " + ", ".join(f"{side} {what} {s / len(records):.3f} s per graph" for (side, what), s in sorted(took.items(), key=lambda item: -item[1])[:8]))
    grown = False
    for side in ("reference_memory", "candidate_memory"):
        memory = [record[side] for record in records if record.get(side)]
        if not memory:
            continue
        kept = [m["kept_bytes"] for m in memory]
        early, late = max(kept[: max(1, len(kept) // 2)]), max(kept[len(kept) // 2:])
        grown = grown or late > early
        print(f"{side}: most {max(m['peak_bytes'] for m in memory) / GIB:.2f} GiB; kept after a graph at most {early / MIB:.0f} MiB in the first half of the run, {late / MIB:.0f} MiB in the second")
    for record in wrong[:20]:
        print(f"not right: {record['graph']}: {record['stage']} {record['error_kind']} {record['error'][:300]}")
    return 1 if wrong or grown else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
