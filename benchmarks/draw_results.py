"""Prints the Markdown tables of docs/performance.md that summarize benchmarks/results/*.csv.

    draw_results.py [RESULTS]

RESULTS: the directory with the CSV files; default: benchmarks/results. A ratio is the time of the second side over that of the first.
"""

import csv
import math
import pathlib
import statistics
import sys

from python_models import over_best_mode, speedup

# (set, side, over side)
CPU_PAIRS = [
    ("samples", "our_passes", "pytorch_eager"),
    ("samples", "our_passes", "torch_compile"),
    ("samples", "our_passes", "our_eager"),
    ("samples", "our_eager", "pytorch_eager"),
    ("samples", "torch_compile", "pytorch_eager"),
    ("corpus", "our_eager", "pytorch_eager"),
    ("corpus", "torch_compile", "pytorch_eager"),
]
# (run, set, side, over side)
GPU_PAIRS = [
    ("default", "samples", "our_passes", "pytorch_eager"),
    ("default", "samples", "our_passes", "torch_compile"),
    ("default", "samples", "our_passes", "cudagraph_from_python"),
    ("compile_modes", "samples", "our_passes", "max_autotune"),
    ("default", "corpus", "our_eager", "pytorch_eager"),
    ("default", "corpus", "our_cuda_graph", "torch_compile"),
    ("default", "corpus", "our_cuda_graph", "cudagraph_from_python"),
    ("default", "corpus", "torch_compile", "pytorch_eager"),
    ("compile_modes", "corpus", "our_cuda_graph", "max_autotune"),
]
# (clock, tensors, cache): heading
TRACKS = {
    ("host", "same", "warm"): "host, same",
    ("host", "fresh", "warm"): "host, fresh",
    ("device", "same", "warm"): "device, warm",
    ("device", "fresh", "flushed"): "device, flushed",
}
# The same in the columns of official_tasks.csv.
OFFICIAL_TRACKS = {"_".join((clock, cache if clock == "device" else tensors)): heading for (clock, tensors, cache), heading in TRACKS.items()}
NAMES = {
    "pytorch_eager": "PyTorch eager", "torch_compile": "`torch.compile`", "max_autotune": "`max-autotune`",
    "cudagraph_from_python": "Python's CUDA graph", "our_eager": "our eager", "our_cuda_graph": "our CUDA graph", "our_passes": "our passes",
}
SETS = {"samples": "samples", "corpus": "subgraphs"}
# Column of authored_gpu.csv: heading
AUTHORED = {
    "over_eager_host_fresh": "over eager, host clock, fresh",
    "over_compile_host_fresh": "over `torch.compile`, host clock, fresh",
    "over_compile_device_flushed": "over `torch.compile`, device clock, flushed",
    "score": "score",
    "aggregated_score": "aggregated score",
    "seconds_per_sample": "seconds a sample, four at a time",
}
# Columns of official_models.csv.
SCORES = ("score", "passbench_score", "published")


def read(path):
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def ratios(rows, side, over, field="{}_us"):
    """Ratio of each graph that both sides were timed on; an empty or worded field is a side that was not."""
    def timed(field):
        try:
            return float(field)
        except ValueError:
            return None
    pairs = [(timed(row[field.format(side)]), timed(row[field.format(over)])) for row in rows]
    return [before / after for after, before in pairs if after and before]


def geometric_mean(values):
    return math.exp(statistics.fmean(map(math.log, values)))


def table(head, rows, words):
    """A Markdown table whose first `words` columns are aligned left."""
    lines = [head, ["---"] * words + ["---:"] * (len(head) - words), *rows]
    return "\n".join("| " + " | ".join(line) + " |" if line[0] != "---" else "|" + "|".join(line) + "|" for line in lines)


def pair_name(group, side, over):
    return f"{SETS[group]}: {NAMES[side]} over {NAMES[over]}"


def cpu_table(rows):
    lines = []
    for group, side, over in CPU_PAIRS:
        found = ratios([row for row in rows if row["set"] == group], side, over)
        lines.append([pair_name(group, side, over), str(len(found)), f"{geometric_mean(found):.2f}x", f"{statistics.median(found):.2f}x", str(sum(one < 1 for one in found))])
    return table(["host clock", "graphs", "geometric mean", "median", "slower on"], lines, 1)


def gpu_table(rows):
    lines = []
    for run, group, side, over in GPU_PAIRS:
        line, count = [], 0
        for track in TRACKS:
            found = ratios([row for row in rows if (row["run"], row["set"], row["clock"], row["tensors"], row["cache"]) == (run, group, *track)], side, over)
            line.append(f"{geometric_mean(found):.2f}x ({sum(one < 1 for one in found)})" if found else "-")
            count = max(count, len(found))
        lines.append([pair_name(group, side, over), str(count), *line])
    return table(["clock, inputs or cache", "graphs", *TRACKS.values()], lines, 1)


def authored_cpu_table(rows):
    """A line per processor and draw of tasks: the newest run that was timed beside PyTorch, which is the first such row."""
    newest = {}
    for row in rows:
        if row["over_eager"]:
            newest.setdefault((row["cpu"], row["draw"]), row)
    lines = [[row["cpu"], row["draw"], row["graphs"], f"{float(row['over_eager']):.2f}x", f"{float(row['over_compile']):.2f}x", f"{float(row['score']):.2f}",
              row["aggregated_score"] or "-", row["seconds_per_sample"]] for row in newest.values()]
    return table(["host clock", "tasks", "graphs", "over eager", "over `torch.compile`", "score", "aggregated score", "seconds a sample"], lines, 2)


def authored_gpu_table(rows):
    """The median and the range over the draws of tasks; of each draw the first row that has the figure, which is its newest run."""
    lines = []
    for column, heading in AUTHORED.items():
        newest = {}
        for row in rows:
            if row["set"] == "PassBench-C" and row[column]:
                newest.setdefault(row["draw"], float(row[column]))
        found = list(newest.values())
        median = f"{statistics.median(found):.2f}" if found else "-"
        lines.append([heading, str(len(found)), f"{median} ({min(found):.2f} to {max(found):.2f})" if len(found) > 1 else median])
    return table(["PassBench-C", "draws", "median (range)"], lines, 1)


def by_task(rows):
    tasks = {}
    for row in rows:
        tasks.setdefault(row["task"], []).append(row)
    return list(tasks.values())


def mean_of_tasks(values):
    """The geometric mean over tasks of that over each task's values."""
    return geometric_mean([geometric_mean(of_task) for of_task in values if of_task])


def official_table(rows):
    """Means by task; in brackets the graphs that are slower."""
    tasks, lines = by_task(rows), []
    for over in ("pytorch_eager", "torch_compile", "our_eager"):
        line = [f"{NAMES['our_passes']} over {NAMES[over]}"]
        for track in OFFICIAL_TRACKS:
            found = [ratios(graphs, "our_passes", over, "{}_" + track + "_us") for graphs in tasks]
            line.append(f"{mean_of_tasks(found):.2f}x ({sum(one < 1 for of_task in found for one in of_task)})")
        lines.append(line)
    return table([f"official benchmark: {len(tasks)} of 100 tasks, all {len(rows):,} graphs, H200", *OFFICIAL_TRACKS.values()], lines, 1)


def classes_table(rows):
    """By class of operators: device time of eager's call, and ratios, as means by task."""
    lines, field = [], "{}_device_flushed_us"
    eager = field.format("pytorch_eager")
    for name in sorted({row["class"] for row in rows}):
        of_class = [row for row in rows if row["class"] == name]
        tasks = by_task(of_class)
        us = mean_of_tasks([[float(row[eager]) for row in graphs if row[eager]] for graphs in tasks])
        pairs = ("torch_compile", "pytorch_eager"), ("our_passes", "pytorch_eager"), ("our_passes", "torch_compile")
        means = [mean_of_tasks([ratios(graphs, side, over, field) for graphs in tasks]) for side, over in pairs]
        lines.append([name, str(len(tasks)), str(len(of_class)), f"{us:.0f}", *(f"{mean:.2f}x" for mean in means)])
    heading = ["official benchmark by class, device clock, flushed cache", "tasks", "graphs", "PyTorch eager, us", "`torch.compile` over it", "our passes over it", "our passes over `torch.compile`"]
    return table(heading, lines, 1)


def submissions_table(rows):
    """Means by task that has all three scores, best first: shares of graphs arithmetic, scores geometric."""
    models = {}
    for row in rows:
        if all(row[column] for column in SCORES):
            models.setdefault(row["model"], []).append({column: float(value) for column, value in row.items() if column not in ("model", "task")})
    lines = []
    for model, tasks in models.items():
        shares = [f"{100 * statistics.fmean(task[column] for task in tasks):.1f} %" for column in ("coverage", "correct", "fast_1")]
        scores = [f"{geometric_mean([task[column] for task in tasks]):.3f}" for column in SCORES]
        lines.append([model, str(len(tasks)), f"{sum(task['graphs'] for task in tasks):.0f}", *shares, *scores])
    lines.sort(key=lambda line: -float(line[-3]))
    heading = ["submissions to the official benchmark, H200", "tasks", "graphs", "coverage", "correct", "fast_1", "score", "by PassBench's rules", "as published"]
    return table(heading, lines, 1)


def models_table(rows):
    """A line per model that was measured by torch.compile and tuned: the newest row of each side."""
    sides, clocks = {}, ("host", "device") if any(row["device_us"] for row in rows) else ("host",)
    for row in rows:
        if not row["problem"]:
            sides.setdefault(row["model"], {})[row["side"]] = row
    lines, columns = [], [[] for _ in range(1 + len(clocks))]
    for model, of_model in sorted(sides.items()):
        found = [speedup("passnet tuned", of_model, "host"), *(over_best_mode("passnet tuned", of_model, clock) for clock in clocks)]
        if None in found:
            continue
        for column, value in zip(columns, found):
            column.append(value)
        lines.append([model, *(f"{value:.2f}x" for value in found), of_model["passnet tuned"]["tune_s"]])
    means = ["geometric mean", *(f"{geometric_mean(values):.2f}x ({sum(one < 1 for one in values)})" for values in columns), ""]
    return table(["tuned, from Python", "over eager, host", "over `torch.compile`'s best mode, host", *clocks[1:], "seconds to tune"], [*lines, means], 1)


def tables(results):
    return [cpu_table(read(results / "cpu_graphs.csv")), gpu_table(read(results / "gpu_graphs.csv")), authored_cpu_table(read(results / "authored_cpu.csv")),
            authored_gpu_table(read(results / "authored_gpu.csv")), *(draw(read(results / "official_tasks.csv")) for draw in (official_table, classes_table)),
            submissions_table(read(results / "official_models.csv")), models_table(read(results / "python_models_gpu.csv")), models_table(read(results / "python_models_cpu.csv"))]


def main():
    results = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parent / "results"
    print("\n\n".join(tables(results)))


if __name__ == "__main__":
    main()
