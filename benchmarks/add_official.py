"""Adds sittings of `scripts/gpu author OUT EVERY FIRST 1` to a table, so that they come to the whole official benchmark.

    add_official.py benchmarks/results/official_tasks.csv GRAPHS OUT...

GRAPHS is the directory that has fusible_subgraphs. OUT has author_against_torch_compile.json. Its tasks replace the rows
that the table has of them.
"""

import json
import pathlib
import re
import sys

from sittings import TASK_LETTERS, read_rows, write_rows

SIDES = {"our_eager": "our eager", "pytorch_eager": "PyTorch eager", "torch_compile": "torch.compile", "our_passes": "our passes"}
# Columns by the tracks that against_torch_compile describes.
TRACKS = {
    "host clock, same tensors, warm cache": "host_same",
    "host clock, fresh tensors, warm cache": "host_fresh",
    "device clock, same tensors, warm cache": "device_warm",
    "device clock, fresh tensors, flushed cache": "device_flushed",
}
# A graph is of the first class that one of its calls is of.
CLASSES = {
    "convolution or product": r"conv[123]d|conv_transpose[123]d|linear|matmul|bmm|baddbmm|einsum|scaled_dot_product_attention",
    "normalization": r"(batch|layer|group|instance)_norm|norm|normalize",
    "softmax": r"(log_)?softmax",
    "reduction or pooling": r"(adaptive_)?(avg|max)_pool[123]d|mean|sum|max|min|amax|amin|var|std|all|any|cumsum|argmax",
    "concatenation or movement": r"cat|stack|pad|roll|repeat|repeat_interleave|tile|interpolate|embedding|index_select|gather|unfold|contiguous|clone",
}
CALL = re.compile(r"\.(\w+)\(")
COLUMNS = ["task", "graph", "class", *(f"{side}_{track}_us" for track in TRACKS.values() for side in SIDES), "problem"]


def class_of(model):
    """The class of a graph by its text."""
    calls = set(CALL.findall(model))
    return next((name for name, pattern in CLASSES.items() if any(re.fullmatch(pattern, call) for call in calls)), "elementwise")


def rows_of(report, graphs):
    """A row per graph; times in us, empty where a side was not timed. problem: why not, the side's name first."""
    tracks = [TRACKS[name] for name in report["tracks"]]
    for one in report["samples"]:
        task, _, graph = one["graph"].partition("/")
        row = {"task": task[:TASK_LETTERS], "graph": graph.split("fusible_subgraphs/")[-1]}
        row["class"] = class_of((graphs / "fusible_subgraphs" / row["graph"] / "model.py").read_text())
        for side, name in SIDES.items():
            if isinstance(one[name], dict):
                row |= {f"{side}_{track}_us": f"{us:.2f}" for track, us in zip(tracks, one[name]["medians_us"])}
            else:
                row.setdefault("problem", f"{name}: {one[name].splitlines()[0]}")
        yield row


def main(table, graphs, outs):
    rows = read_rows(table)
    for out in outs:
        added = list(rows_of(json.loads((pathlib.Path(out) / "author_against_torch_compile.json").read_text()), pathlib.Path(graphs)))
        tasks = {row["task"] for row in added}
        rows = [row for row in rows if row["task"] not in tasks] + added
    write_rows(table, COLUMNS, sorted(rows, key=lambda row: (row["task"], row["graph"])))
    print(f"{len({row['task'] for row in rows})} tasks, {len(rows)} graphs")


if __name__ == "__main__":
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    main(pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3:])
