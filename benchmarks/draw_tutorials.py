"""Draws the plots of docs/tutorial-*.md from benchmarks/results.

    draw_tutorials.py [DIRECTORY]

DIRECTORY: where the SVG files go; default: docs/tutorial.
"""

import pathlib
import sys

from draw_results import geometric_mean, ratios, read

RESULTS = pathlib.Path(__file__).resolve().parent / "results"
COLORS = ("#8a8f98", "#d08a2e", "#2a6fbb")
WIDTH, LEFT, RIGHT, BAR, GAP = 720, 150, 60, 14, 12


def text(x, y, words, anchor="start", size=12):
    return f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}" font-size="{size}">{words}</text>'


def bars(title, series, groups, form="{:g}"):
    """Horizontal bars. series: names; groups: (label, a value per series; None: nothing to show) from the top; form: of a value."""
    largest = max(value for _, values in groups for value in values if value is not None)
    parts = [text(10, 20, title, size=14)]
    x = 10
    for color, name in zip(COLORS[-len(series):], series):
        parts += [f'<rect x="{x}" y="31" width="11" height="11" fill="{color}"/>', text(x + 16, 41, name)]
        x += 30 + 7 * len(name)
    y = 56
    for label, values in groups:
        parts.append(text(LEFT - 8, y + BAR * len(values) / 2 + 4, label, "end"))
        for color, value in zip(COLORS[-len(series):], values):
            if value is not None:
                length = (WIDTH - LEFT - RIGHT) * value / largest
                parts.append(f'<rect x="{LEFT}" y="{y}" width="{length:.1f}" height="{BAR - 2}" fill="{color}"/>')
                parts.append(text(round(LEFT + length + 5, 1), y + BAR - 4, form.format(value), size=11))
            y += BAR
        y += GAP
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {y}" font-family="sans-serif" role="img" aria-label="{title}">\n'
            f'<rect width="{WIDTH}" height="{y}" fill="white"/>\n' + "\n".join(parts) + "\n</svg>\n")


def us(field):
    """A time, or none where the side was wrong and not timed."""
    return float(field) if field not in ("", "inexact") else None


def of_sample(rows, sample, **only):
    return [row for row in rows if row["graph"].startswith(f"{sample}/") and all(row[key] == value for key, value in only.items())]


SIDES = ("pytorch_eager_us", "torch_compile_us", "our_passes_us")
NAMES = ("PyTorch eager", "torch.compile", "the pass")


def sides(rows):
    return [(row["graph"].split("/")[1], [us(row[side]) for side in SIDES]) for row in rows]


def plots():
    cpu, gpu = read(RESULTS / "cpu_graphs.csv"), read(RESULTS / "gpu_graphs.csv")
    device = {"run": "default", "clock": "device", "tensors": "same", "cache": "warm"}
    yield "1-fuse", bars("gpt2_gelu on two processors: us of a call", NAMES, sides(of_sample(cpu, "gpt2_gelu")))
    yield "2-rows", bars("vit_add_layer_norm on an H200, kernels alone: us of a call", NAMES, sides(of_sample(gpu, "vit_add_layer_norm", **device)))
    rounding = [(row["graph"].split("/")[1], [6 - int(row[f"{kind}_from_t"]) for kind in ("not_rounded", "rounded")]) for row in read(RESULTS / "rounding.csv")]
    yield "3-round", bars("gpt2_gelu: rungs of tolerance that a result passes, of 16", ("not rounded", "rounded as PyTorch does"), rounding)
    speedups = ratios(of_sample(cpu, "seresnet_squeeze_excite"), "our_passes", "pytorch_eager")
    counted = [("all six right", speedups), ("two declined", speedups[:4] + [1, 1]), ("two wrong", speedups[:4] + [0.1, 0.1])]
    yield "4-decline", bars("seresnet_squeeze_excite: geometric mean of what six graphs count", ("score",),
                            [(label, [geometric_mean(values)]) for label, values in counted], "{:.2f}x")
    merge = [(f"{row['graph'].split('/')[1].split('_')[0]}, {clock} clock", [us(row[side]) for side in SIDES])
             for clock in ("host", "device") for row in of_sample(gpu, "swin_window_merge", **device | {"clock": clock}) if row["graph"].endswith("float32")]
    yield "5-index", bars("swin_window_merge in float32 on an H200: us of a call", NAMES, merge)


def main():
    directory = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else RESULTS.parents[1] / "docs" / "tutorial"
    for name, drawn in plots():
        (directory / f"{name}.svg").write_text(drawn)


if __name__ == "__main__":
    main()
