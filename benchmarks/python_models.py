"""Whole models as a user calls them from Python: eager, torch.compile in its modes, and backend="passnet" untuned and tuned.

Usage: python_models.py --out DIR [--device cuda|cpu] [--models WORD,…] [--batches 1,8] [--dtypes float32,bfloat16] [--sides SIDE,…]
                        [--budget S] [--limit S] [--seconds S] [--kernels] [--list]
Models are built from their configurations with random weights; nothing is downloaded. Each model has a process of its own, where each side
takes turns with eager, as machines are not equally fast all the time. DIR/models.csv has a row per model and side; rows that are there without
a problem are not measured again.
  --budget S    seconds for the passes of one graph; 60
  --limit S     seconds for one side; 600. One that takes longer is a row with the problem "timeout"
  --seconds S   begin no further model after so many seconds
  --kernels     write the kernels of a call to DIR/kernels.csv too, and print a table by kind (python_models_kernels.py)
Ends with a table of geometric means of the complete rows. `error` is the largest error against float64 over the largest output.
"""

import argparse
import copy
import csv
import json
import math
import os
import pathlib
import queue
import re
import signal
import statistics
import subprocess
import sys
import threading
import time

import python_models_kernels as kernels
import python_models_zoo as zoo

SIDES = ("eager", "compile", "reduce-overhead", "max-autotune", "passnet", "passnet tuned")
FIELDS = ("device", "model", "batch", "dtype", "side", "host_us", "host_low_us", "host_high_us", "eager_us", "device_us", "memory_mib", "first_call_s", "tune_s",
          "error", "eager_error", "right", "graphs", "passes", "how", "problem")  # fmt: skip
KEY = ("device", "model", "batch", "dtype", "side")
SETS = 4  # of inputs, at addresses of their own
TURNS, CALLS, MOST_TURNS_S = 8, 8, 8.0  # at most; calls of one turn


def read_rows(path):
    if not path.exists():
        return {}
    with path.open(newline="") as file:
        return {tuple(row[name] for name in KEY): row for row in csv.DictReader(file)}


def missing_sides(path, case, sides):
    """Those without a row, or whose newest row has a problem. case: device, model, batch and dtype."""
    measured = {key for key, row in read_rows(path).items() if not row["problem"]}
    return [side for side in sides if (*case, side) not in measured]


def append_row(path, row):
    new = not path.exists()
    with path.open("a", newline="") as file:
        writer = csv.DictWriter(file, FIELDS, restval="")
        if new:
            writer.writeheader()
        writer.writerow(row)


class Side:
    """One side of one model, in the process of the model."""

    def __init__(self, options, model, args):
        import torch

        self.torch, self.options, self.model, self.args = torch, options, model, args
        self.on_gpu = options.device != "cpu"

    def wait(self):
        if self.on_gpu:
            self.torch.cuda.synchronize()

    def sets(self):
        return [tuple(value.clone() for value in self.args) for _ in range(SETS)]

    def compiled(self, side):
        """The model as this side calls it, and what is known of its passes."""
        torch, facts = self.torch, {}
        torch._dynamo.reset()
        zoo.forget_graphs()
        if side == "eager":
            return self.model, facts
        if not side.startswith("passnet"):
            return torch.compile(self.model, mode="default" if side == "compile" else side), facts
        home = pathlib.Path(self.options.out).absolute() / "passes" / side.replace(" ", "_")
        if side == "passnet tuned":
            import passnet

            start = time.perf_counter()
            report = passnet.tune(self.model, self.args, budget_s=self.options.budget, cache_dir=str(home))
            facts["tune_s"] = round(time.perf_counter() - start, 1)
            facts["graphs"] = len(report.rows)
            facts["passes"] = sum(len(row.passes) for row in report.rows)
            facts["how"] = "; ".join(sorted({f"{row.status}: {row.why}"[:120] if row.why else row.status for row in report.rows}))
            torch._dynamo.reset()
        return torch.compile(self.model, backend="passnet", options={"cache_dir": str(home)}), facts

    def host_times(self, call, sets):
        """Times of single calls in us, sorted, each waited for, on the sets of inputs in turn: of `call`, and of the model by eager."""
        times, end = {call: [], self.model: []}, time.perf_counter() + MOST_TURNS_S
        for turn in range(TURNS):
            for one, found in times.items():
                for i in range(CALLS + 1):
                    args = sets[i % SETS]
                    self.wait()
                    start = time.perf_counter()
                    result = one(*args)
                    self.wait()
                    if i > 0:  # the first one finds the other's data in caches
                        found.append((time.perf_counter() - start) * 1e6)
                    del result
            if time.perf_counter() > end and turn >= 2:
                break
        return sorted(times[call]), sorted(times[self.model])

    def device_time(self, call, sets, host_us):
        """us of a call on the GPU alone: it stands in line behind a kernel that spins until all of it was launched."""
        torch, times = self.torch, []
        cycles = int(min(host_us * 4 + 5000, 400_000) * 1980)
        for i in range(9):
            start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
            torch.cuda.synchronize()
            torch.cuda._sleep(cycles)
            start.record()
            result = call(*sets[i % SETS])
            end.record()
            torch.cuda.synchronize()
            times.append(start.elapsed_time(end) * 1e3)
            del result
        return statistics.median(times)

    def measure(self, side, exact, eager_error):
        torch, row = self.torch, {}
        with torch.no_grad():
            call, facts = self.compiled(side)
            row.update(facts)
            sets = self.sets()
            start = time.perf_counter()
            first = call(*sets[0])
            self.wait()
            row["first_call_s"] = round(time.perf_counter() - start, 2)
            row["error"] = error_of(torch, first, exact)
            row["eager_error"] = row["error"] if eager_error is None else eager_error
            row["right"] = row["error"] <= 2 * row["eager_error"] + allowed(self.options.dtype)
            del first
            for i in range(2 * SETS):
                call(*sets[i % SETS])
            self.wait()
            if self.on_gpu:
                torch.cuda.empty_cache()
                torch.cuda.reset_peak_memory_stats()
            times, of_eager = self.host_times(call, sets)
            row["eager_us"] = round(statistics.median(of_eager), 1)
            row["host_us"], row["host_low_us"], row["host_high_us"] = (round(times[int(len(times) * share)], 1) for share in (0.5, 0.05, 0.95))
            row["right"] = row["right"] and error_of(torch, call(*sets[0]), exact) <= 2 * row["eager_error"] + allowed(self.options.dtype)
            if self.on_gpu:
                row["memory_mib"] = torch.cuda.max_memory_reserved() >> 20
                row["device_us"] = round(self.device_time(call, sets, row["host_us"]), 1)
            if self.options.kernels:
                base = {"device": self.options.device, "model": self.options.model, "batch": self.options.batch, "dtype": self.options.dtype, "side": side}
                kernels.append(pathlib.Path(self.options.out) / "kernels.csv", base, kernels.kernels_of(torch, call, sets, self.on_gpu))
            if side == "passnet":
                row["how"] = "; ".join(sorted(one[:120] for one in zoo.said()))
            if side.startswith("passnet"):
                row["how"] = "; ".join(filter(None, [row["how"], *(f"calls by {mode}"[:120] for mode in zoo.modes())]))
        return row


def tensors_of(torch, value):
    if isinstance(value, torch.Tensor):
        return [value] if value.is_floating_point() else []
    if isinstance(value, dict):
        value = tuple(value.values())
    return [tensor for one in value for tensor in tensors_of(torch, one)] if isinstance(value, (tuple, list)) else []


def error_of(torch, found, exact):
    """The largest, over tensors, of the largest error over the largest magnitude; infinite where one is not finite."""
    worst = 0.0
    found = tensors_of(torch, found)
    if len(found) != len(exact):
        return math.inf
    for one, wanted in zip(found, exact):
        error = ((one.double() - wanted).abs().max() / wanted.abs().max().clamp_min(1e-30)).item()
        worst = max(worst, error if math.isfinite(error) else math.inf)
    return float(f"{worst:.3g}")


def allowed(dtype):
    return {"float32": 1e-5, "bfloat16": 1e-2}[dtype]


def run_model(options):
    """The process of one model: a line of JSON per side."""
    import torch

    if "passnet" in options.sides:
        zoo.listen()
    torch.manual_seed(61)
    dtype = getattr(torch, options.dtype)
    model, args = zoo.build(options.model, int(options.batch))
    with torch.no_grad():
        model = model.eval().to(options.device)
        args = tuple(value.to(options.device) for value in args)
        # The first call of all, which loads libraries, is eager's first one.
        start = time.perf_counter()
        first = copy.deepcopy(model).to(dtype)(*[value.to(dtype) if value.is_floating_point() else value for value in args])
        float(tensors_of(torch, first)[0].sum())
        eager_first_s = round(time.perf_counter() - start, 2)
        exact = tensors_of(torch, copy.deepcopy(model).double()(*[value.double() if value.is_floating_point() else value for value in args]))
        model, args = model.to(dtype), tuple(value.to(dtype) if value.is_floating_point() else value for value in args)
        eager_error = error_of(torch, model(*args), exact)
    side = Side(options, model, args)
    for name in options.sides.split(","):
        try:
            row = side.measure(name, exact, eager_error)
            if name == "eager":
                row["first_call_s"] = eager_first_s
        except Exception as problem:  # noqa: BLE001: a row says it
            row = {"problem": f"{type(problem).__name__}: {problem}".splitlines()[0][:200]}
        print("ROW " + json.dumps({"side": name, **row}), flush=True)


def rows_of(command, log, limit):
    """Yields rows of a child's lines, then why there are no more: the process ended, or wrote none for `limit` seconds."""
    child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True, start_new_session=True)
    lines = queue.Queue()
    threading.Thread(target=lambda: [*map(lines.put, child.stdout), lines.put(None)], daemon=True).start()
    problem = "the process ended"
    try:
        while (line := lines.get(timeout=limit)) is not None:
            if line.startswith("ROW "):
                yield json.loads(line[4:])
    except queue.Empty:
        problem = "timeout"
    finally:
        if child.poll() is None:
            os.killpg(child.pid, signal.SIGKILL)
        child.wait()
    yield {"problem": problem}


def run_child(options, name, batch, dtype, sides, path):
    """Rows of one model. A side that takes too long ends the process; the others begin anew."""
    base = {"device": options.device, "model": name, "batch": batch, "dtype": dtype}
    while sides:
        command = [sys.executable, __file__, "--child", "--out", options.out, "--device", options.device, "--model", name, "--batch", batch, "--dtype", dtype,
                   "--sides", ",".join(sides), "--budget", str(options.budget), *(["--kernels"] if options.kernels else [])]  # fmt: skip
        with (path.parent / "models.log").open("a") as log:
            for row in rows_of(command, log, options.limit):
                if not sides:
                    break
                row = {**base, "side": sides[0], **row}
                append_row(path, row)
                print(name, batch, dtype, row["side"], row.get("host_us"), row.get("device_us"), row.get("right"), row.get("problem", ""), flush=True)
                sides.remove(row["side"])


def speedup(side, sides, clock):
    """How much faster a side is than eager: by host clock in the turns that both took, where the row has them. None: it was not measured."""
    row = sides.get(side, {})
    if not row.get(f"{clock}_us"):
        return None
    of_eager = (clock == "host" and row.get("eager_us")) or sides.get("eager", {}).get(f"{clock}_us")
    return float(of_eager) / float(row[f"{clock}_us"]) if of_eager else None


def over_best_mode(side, sides, clock):
    """How much faster a side is than the fastest of torch.compile's modes that were measured; None: none was.

    On a CPU by what each side is over eager in its own turns. On a GPU directly: eager's time there is the host's, which varies more than theirs.
    """
    on_gpu = any(row.get("device_us") for row in sides.values())

    def speed(one):
        if not on_gpu:
            return speedup(one, sides, clock)
        time = sides.get(one, {}).get(f"{clock}_us")
        return 1 / float(time) if time else None

    mine, modes = speed(side), [found for mode in SIDES[1:4] if (found := speed(mode))]
    return mine / max(modes) if mine and modes else None


def summary(path):
    """Geometric means of host and device time over the best of torch.compile's modes, of models where all sides were measured."""
    groups = {}
    for row in read_rows(path).values():
        groups.setdefault((row["device"], row["batch"], row["dtype"]), {}).setdefault(row["model"], {})[row["side"]] = row
    print(f"{'':24} {'models':>6} " + " ".join(f"{side + ' ' + clock:>22}" for side in ("passnet", "passnet tuned") for clock in ("host", "device")) + "   slower than eager")
    for group, models in sorted(groups.items()):
        cells, count = [], 0
        for side in ("passnet", "passnet tuned"):
            for clock in ("host", "device"):
                ratios = [found for sides in models.values() if (found := over_best_mode(side, sides, clock))]
                count = max(count, len(ratios))
                cells.append(f"{math.exp(statistics.mean(map(math.log, ratios))):.2f}x" if ratios else "-")
        slower = [name for name, sides in models.items() if (speedup("passnet tuned", sides, "host") or 1) < 1]
        print(f"{' '.join(group):24} {count:6} " + " ".join(f"{cell:>22}" for cell in cells) + f"   {', '.join(slower) or 'none'}")


def finish(options, path):
    summary(path)
    if options.kernels and (found := path.with_name("kernels.csv")).exists():
        with found.open(newline="") as file:
            print("\n".join(kernels.table(csv.DictReader(file))))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", default=".")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--models", default="")
    parser.add_argument("--batches", default="1,8")
    parser.add_argument("--dtypes", default="float32,bfloat16")
    parser.add_argument("--sides", default=",".join(SIDES))
    parser.add_argument("--budget", type=float, default=60)
    parser.add_argument("--limit", type=float, default=600)
    parser.add_argument("--seconds", type=float, default=math.inf)
    parser.add_argument("--kernels", action="store_true")
    parser.add_argument("--list", action="store_true")
    for hidden in ("--model", "--batch", "--dtype"):
        parser.add_argument(hidden, help=argparse.SUPPRESS)
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        return run_model(options)
    names = [name for name in zoo.MODELS if not options.models or any(re.search(word, name) for word in options.models.split(","))]
    if options.list:
        return print("\n".join(names))
    path = pathlib.Path(options.out) / "models.csv"
    path.parent.mkdir(parents=True, exist_ok=True)
    start = time.monotonic()
    for dtype in options.dtypes.split(","):
        for batch in options.batches.split(","):
            for name in names:
                if time.monotonic() - start > options.seconds:
                    return finish(options, path)
                sides = missing_sides(path, (options.device, name, batch, dtype), options.sides.split(","))
                run_child(options, name, batch, dtype, sides, path)
    return finish(options, path)


if __name__ == "__main__":
    main()
