"""PyTorch from Python against passnet-worker on the same inputs, over all graphs below the given directories: `make parity`.

Prints a line per graph and a summary. Exit code 0: at least --threshold percent of the graphs agree (bit-equal, or within the
tolerance ladder at t = -5); 1: fewer do; 77: there are no graphs; 130: interrupted.

Each job is a process (parity_check.py) with a worker of its own. One that crashes or takes longer than --timeout is replaced, and
its graph is counted as 'crash' or 'timeout'.
"""
import argparse
import collections
import json
import math
import os
import pathlib
import re
import select
import signal
import statistics
import subprocess
import sys
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
AGREE = ("equal", "close")
# A job may hold this much beside its inputs before it counts against the others.
ACTIVATION_BYTES = 2 << 30
ITEM_BYTES = {"float64": 8, "int64": 8, "complex64": 8, "complex128": 16, "float16": 2, "bfloat16": 2, "int16": 2, "int8": 1, "uint8": 1,
              "bool": 1}


def input_sizes(directory):
    """(elements, bytes) of all inputs, from the records of the graph's metas."""
    elements = size = 0
    for name in ("weight_meta.py", "input_meta.py"):
        text = (directory / name).read_text() if (directory / name).exists() else ""
        shapes = re.findall(r"^\s+shape = \[([^\]]*)\]", text, re.MULTILINE)
        dtypes = re.findall(r"^\s+dtype = [\"']torch\.(\w+)", text, re.MULTILINE)
        for shape, dtype in zip(shapes, dtypes):
            count = math.prod(int(extent) for extent in shape.split(",") if extent.strip())
            elements, size = elements + count, size + count * ITEM_BYTES.get(dtype, 4)
    return elements, size


class Job:
    """A parity_check.py that is started when needed and replaced when lost."""

    def __init__(self, options):
        self.options = options
        self.process = None

    def start(self):
        reply, theirs = os.pipe()
        self.process = subprocess.Popen(
            [sys.executable, str(HERE / "parity_check.py"), "--worker", str(self.options.worker), "--threads",
             str(self.options.threads), "--reply", str(theirs), *["--shapes"] * self.options.shapes, *["--memory"] * self.options.memory],
            stdin=subprocess.PIPE, pass_fds=[theirs], start_new_session=True)
        os.close(theirs)
        self.reply = os.fdopen(reply, "rb")

    def check(self, directory):
        if self.process is None:
            self.start()
        begin = time.monotonic()
        try:
            self.process.stdin.write((json.dumps({"graph": str(directory)}) + "\n").encode())
            self.process.stdin.flush()
            ready, _, _ = select.select([self.reply], [], [], self.options.timeout)
            line = self.reply.readline() if ready else None
        except OSError:
            line = b""
        if line:
            return json.loads(line)
        code = self.stop()
        if line is None:
            return {"verdict": "timeout", "detail": f"no result within {time.monotonic() - begin:.0f} s"}
        return {"verdict": "crash", "detail": f"the process that ran it ended: exit code {code}"}

    def stop(self):
        """Ends the process and its worker; returns its exit code."""
        if self.process is None:
            return None
        process, self.process = self.process, None
        process.stdin.close()
        try:
            code = process.wait(1)
        except subprocess.TimeoutExpired:
            code = None
        try:
            os.killpg(process.pid, signal.SIGKILL)  # its worker too, which is of its process group
        except ProcessLookupError:
            pass
        self.reply.close()
        return code if code is not None else process.wait()


class Memory:
    """Lets jobs start graphs as long as their inputs fit together; a graph that fits with no other runs alone."""

    def __init__(self, limit):
        self.limit, self.used, self.running = limit, 0, 0
        self.changed = threading.Condition()

    def enter(self, size):
        with self.changed:
            self.changed.wait_for(lambda: self.running == 0 or self.used + size <= self.limit)
            self.used, self.running = self.used + size, self.running + 1

    def leave(self, size):
        with self.changed:
            self.used, self.running = self.used - size, self.running - 1
            self.changed.notify_all()


class Table:
    def __init__(self, out):
        self.rows, self.out, self.lock = [], out, threading.Lock()
        print(f"{'verdict':8} {'seconds':>8} {'difference':>10} {'MiB':>7} {'PyTorch':>7}  graph", flush=True)

    def keep(self, row):
        self.rows.append(row)
        self.out.write(json.dumps(row) + "\n")
        self.out.flush()

    def add(self, row):
        with self.lock:
            self.keep(row)
            mib = lambda key: f"{row[key] / 2**20:7.0f}" if key in row else "      -"  # noqa: E731
            gap = f"{row['largest']:10.2g}" if row.get("largest") else f"{'-':>10}"
            note = " | ".join(filter(None, [row.get("detail"), row.get("waived")]))
            print(f"{row['verdict']:8} {row['seconds']:8.1f} {gap} {mib('our_rss_bytes')} {mib('pytorch_rss_bytes')}  {row['name']}"
                  f"{'  ' + note if note else ''}", flush=True)


def memory_ratios(rows):
    """Our peak of tensor memory over PyTorch's, by graph; of those in which PyTorch's is at least 64 KiB."""
    return {row["name"]: row["our_peak_bytes"] / row["pytorch_peak_bytes"] for row in rows
            if row["verdict"] in AGREE and row.get("pytorch_peak_bytes", 0) >= 64 << 10}


def summarize(rows, threshold):
    """Prints the counts; True when enough graphs agree."""
    counts = collections.Counter(row["verdict"] for row in rows)
    agree = sum(counts[verdict] for verdict in AGREE)
    waived = sum("waived" in row for row in rows)
    print(f"{len(rows)} graphs: " + ", ".join(f"{count} {verdict}" for verdict, count in sorted(counts.items()))
          + (f"; {waived} of them compared without a check that PyTorch has gained since" if waived else ""))
    if ratios := memory_ratios(rows):
        largest = max(ratios, key=ratios.get)
        mean = math.exp(statistics.fmean(math.log(max(ratio, 1e-9)) for ratio in ratios.values()))
        print(f"tensor memory over PyTorch's on {len(ratios)} graphs: {mean:.3f}x (geometric mean), at most {ratios[largest]:.3f}x ({largest})")
    # Where there is no GPU, PyTorch from Python refuses graphs that name one; PassNet runs them on the device it is told.
    without_gpu = sum(row["verdict"] == "pytorch" and "NVIDIA driver" in row.get("detail", "") for row in rows)
    if without_gpu:
        print(f"{without_gpu} graphs cannot be compared: PyTorch wants a GPU for them")
    runnable = len(rows) - counts["neither"] - without_gpu
    share = 100 * agree / runnable if runnable else 100.0
    print(f"{share:.2f} % of {runnable} agree with PyTorch, expected at least {threshold:g} %"
          + (f"; {counts['neither']} run on neither side" if counts["neither"] else ""))
    return share >= threshold


def parse_options(arguments):
    source = HERE.parents[1]
    corpus = pathlib.Path(os.environ.get("PASSNET_CORPUS") or source / "../shared/corpus")
    binaries = pathlib.Path(os.environ.get("PASSNET_BINARY_DIR") or source / "build")
    parser = argparse.ArgumentParser(prog="make parity", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("roots", nargs="*", type=pathlib.Path, default=[corpus], help="directories with graphs below them")
    parser.add_argument("--worker", type=pathlib.Path, default=binaries / "bin/passnet-worker")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)), help="of PyTorch and of the worker")
    parser.add_argument("--jobs", type=int, default=1, help="graphs at a time, as far as memory allows")
    parser.add_argument("--max-elements", type=float, default=math.inf, help="leave out graphs whose inputs have more elements")
    parser.add_argument("--every", type=int, default=1, help="only each N-th graph")
    parser.add_argument("--only", default="", help="only graphs whose path contains this")
    parser.add_argument("--shapes", action="store_true", help="also infer every value's type without data and compare it with the call's")
    parser.add_argument("--memory", action="store_true", help="compare the peak of tensor memory; PyTorch is then profiled and slower")
    parser.add_argument("--timeout", type=float, default=1800, help="seconds for one graph")
    parser.add_argument("--threshold", type=float, default=99, help="percent of the graphs that must agree")
    parser.add_argument("--json", type=pathlib.Path, help="write a line of JSON per graph to this file")
    parser.add_argument("--resume", action="store_true", help="keep the graphs that --json already holds")
    options = parser.parse_args(arguments)
    if options.resume and not options.json:
        parser.error("--resume continues the file named by --json: give both")
    if not options.worker.exists():
        parser.error(f"there is no worker at {options.worker}: 'make build' builds it")
    return options


def read_rows(path):
    """The finished graphs of an earlier run; a last line that was cut off is none."""
    rows = []
    for line in path.read_text().splitlines() if path.exists() else []:
        try:
            rows.append(json.loads(line))
        except json.JSONDecodeError:
            continue
    return rows


def select_graphs(options):
    """[(directory, name, bytes of inputs)]; tells how many are left out."""
    found = sorted((path.parent, str(path.parent.relative_to(root))) for root in options.roots for path in root.rglob("model.py"))
    found = [(path, name) for path, name in found if options.only in str(path)][::options.every]
    # Some graphs were published without their records.
    complete = [(path, name) for path, name in found if (path / "weight_meta.py").stat().st_size > 0]
    if len(complete) < len(found):
        print(f"{len(found) - len(complete)} of {len(found)} graphs are left out: their weight_meta.py is empty")
    found = complete
    graphs = []
    for path, name in found:
        elements, size = input_sizes(path)
        if elements <= options.max_elements:
            graphs.append((path, name, size))
    if len(graphs) < len(found):
        print(f"{len(found) - len(graphs)} of {len(found)} graphs are left out: more than {options.max_elements:g} input elements")
    return graphs


def run_jobs(options, graphs, table):
    """Checks all graphs; an interrupt ends every job and is raised again."""
    with open("/proc/meminfo") as file:
        available = next(int(line.split()[1]) * 1024 for line in file if line.startswith("MemAvailable"))
    memory, queue, jobs = Memory(available), collections.deque(graphs), [Job(options) for _ in range(options.jobs)]
    stopped = threading.Event()

    def work(job):
        while not stopped.is_set():
            try:
                path, name, size = queue.popleft()
            except IndexError:
                return
            memory.enter(size + ACTIVATION_BYTES)
            begin = time.monotonic()
            row = job.check(path)
            memory.leave(size + ACTIVATION_BYTES)
            if not stopped.is_set():
                table.add(row | {"graph": str(path), "name": name, "seconds": time.monotonic() - begin})

    threads = [threading.Thread(target=work, args=(job,), daemon=True) for job in jobs]
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        stopped.set()
        for job in jobs:
            job.stop()


def main(arguments=None):
    options = parse_options(arguments)
    graphs = select_graphs(options)
    if not graphs:
        print(f"skipped: 0 graphs below {', '.join(map(str, options.roots))}")
        return 77
    rows = read_rows(options.json) if options.resume else []
    done = {row["graph"] for row in rows}
    with open(options.json or os.devnull, "w") as out:
        table = Table(out)
        for row in rows:
            table.keep(row)
        try:
            run_jobs(options, [graph for graph in graphs if str(graph[0]) not in done], table)
        except KeyboardInterrupt:
            print(f"interrupted after {len(table.rows)} of {len(graphs)} graphs"
                  + (f"; --resume --json {options.json} goes on from here" if options.json else ""))
            return 130
    return 0 if summarize(table.rows, options.threshold) else 1


if __name__ == "__main__":
    sys.exit(main())
