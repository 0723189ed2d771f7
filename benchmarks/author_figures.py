"""What `passnet author` came to on a set of samples, beside targets: a short table.

    author_figures.py AUTHORED AGAINST --over-eager 2.5 --over-compile 4 --seconds 20

AUTHORED is what `passnet author -o` wrote, AGAINST what `against_torch_compile --authored AUTHORED --out` wrote.
"""

import argparse
import json
import math
import pathlib
import statistics
import sys


def of_samples(authored, seconds, took=None):
    """Figures of the reports: (what, value, unit, target or None, whether more is better). took: seconds for all, or None."""
    reports = [json.loads(path.read_text()) for path in sorted(authored.glob("*/author.json"))]
    if not reports:
        sys.exit(f"error: no sample was authored below '{authored}'")
    without = sum(not any(one["kept"] for one in report["passes"]) for report in reports)
    scores = [report["score"] for report in reports if report.get("counts", True)]
    score = math.exp(sum(map(math.log, scores)) / max(1, len(scores)))
    own = sum(report["seconds"] for report in reports) / len(reports)
    held = [report["precision"] for report in reports if report["precision"]]
    return [
        ("samples", len(reports), "", None, True),
        ("samples without a pass", 100 * without / len(reports), "%", 15, False),
        ("samples in no score", 100 * (len(reports) - len(scores)) / len(reports), "%", None, False),
        ("samples whose score is below 1", 100 * sum(one < 1 for one in scores) / len(reports), "%", 0, False),
        (f"score over our eager, geometric mean of {len(scores)} samples", score, "x", None, True),
        ("seconds for a sample" + (", all of it by their number" if took else ""), took / len(reports) if took else own, "s", seconds, False),
        *([("seconds of a sample's own, beside others", own, "s", None, False)] if took else []),
        ("graphs whose error is larger than PyTorch's own", 100 * sum(one["larger"] for one in held) / max(1, sum(one["graphs"] for one in held)), "%", None, False),
    ]


def of_times(against, over_eager, over_compile):
    """Figures of the comparison, by track, in the same form; targets are of the first track."""
    report = json.loads(against.read_text())
    targets = {"PyTorch eager": over_eager, "torch.compile": over_compile}
    return [
        (f"authored passes over {line['over']}, {line['graphs']} graphs, {line['track']}", line["geometric_mean"], "x",
         targets[line["over"]] if line["track"] == report["tracks"][0] else None, True)
        for line in report["summary"] if line["side"] == "our passes" and line["over"] in targets
    ]


# Of the tolerances t: how much of the aggregated score is of each, docs/scoring.md.
WEIGHTS = {-10: 0.001, -9: 0.001, -8: 0.001, -7: 0.13, -6: 0.40} | {t: 0.48 for t in range(-5, 5)}


def score_over_python(authored, against, wanted):
    """The aggregated score of the timed graphs against PyTorch eager from Python, fresh tensors where there are such. What a graph's results are equal to,
    and how fast passes are that are not equal enough to be timed beside PyTorch, is of the authors' records."""
    report = json.loads(against.read_text())
    track = next((i for i, name in enumerate(report["tracks"]) if name.startswith("host clock, fresh tensors")), 0)
    records = {}
    for path in authored.glob("*/records.jsonl"):
        for one in map(json.loads, path.read_text().splitlines()):
            records[f"{path.parent.name}/{one['graph']}"] = one
            records[path.parent.name] = one  # as a graph of a corpus is called, which is a sample of its own

    def took(line, side):
        return line[side]["medians_us"][track] if isinstance(line.get(side), dict) else None  # else why it was not timed

    total, count = 0.0, 0
    for line in report.get("samples", []) + report.get("corpus", []):
        eager, own, ours = (took(line, side) for side in ("PyTorch eager", "our passes", "our eager"))
        if eager is None or ours is None:
            continue
        record = records.get(line["graph"], {})  # none, or nothing in it: no pass applies, and the graph is as PyTorch has it
        trials = [record.get(side, {}).get("trials_us") for side in ("reference", "candidate")]
        ratio = statistics.median(trials[0]) / statistics.median(trials[1]) if all(trials) else 1.0
        speed = eager / own if own else eager / ours * ratio
        equal_from = max((5 if output["passes_from"] is None else output["passes_from"] for output in record.get("outputs", [])), default=-10)
        total += sum(weight * math.log10(speed if t >= equal_from else 0.1) for t, weight in WEIGHTS.items()) / sum(WEIGHTS.values())
        count += 1
    return [(f"aggregated score over PyTorch eager from Python, {count} graphs, {report['tracks'][track]}", 10 ** (total / count), "x", wanted, True)] if count else []


def row(what, value, unit, target, at_least):
    """A line of a table: what, measured, target, whether it is reached."""
    found = f"{value:.2f} {unit}" if unit else f"{value:g}"
    if target is None:
        return what, found, "", ""
    reached = value >= target if at_least else value <= target
    return what, found, f"{'at least' if at_least else 'at most' if target == 0 else 'under'} {target:g} {unit}", "yes" if reached else "NO"


def table(title, rows):
    lines = [f"| {title} | measured | target | reached |", "|---|---:|---:|---|"]
    return "\n".join(lines + ["| " + " | ".join(one) + " |" for one in rows])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("authored", type=pathlib.Path)
    parser.add_argument("against", type=pathlib.Path)
    parser.add_argument("--over-eager", type=float, help="target: how many times as fast as PyTorch eager")
    parser.add_argument("--over-compile", type=float, help="target: how many times as fast as torch.compile")
    parser.add_argument("--seconds", type=float, help="target: seconds for a sample")
    parser.add_argument("--score", type=float, help="target: the aggregated score over PyTorch eager from Python")
    parser.add_argument("--took", type=float, help="what authoring all of them took, where several were worked on at a time")
    arguments = parser.parse_args()
    figures = of_samples(arguments.authored, arguments.seconds, arguments.took)
    figures += of_times(arguments.against, arguments.over_eager, arguments.over_compile)
    figures += score_over_python(arguments.authored, arguments.against, arguments.score)
    print("\n" + table("figure", [row(*figure) for figure in figures]))


if __name__ == "__main__":
    main()
