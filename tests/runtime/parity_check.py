"""One side of the parity command's bookkeeping, the other being parity.py: a process that runs graphs, one after the other, by
passnet-worker and by PyTorch from Python on the same inputs, and says how they compare.

Started by parity.py. A line {"graph": DIRECTORY} on stdin gives one line of JSON on the descriptor of --reply:
  verdict   'equal'   every output is bit-equal
            'close'   every output is bit-equal or passes the tolerance ladder at t = -5
            'differs' an output does not (detail)
            'types'   the outputs agree, but a type inferred without data is not that of the call (--shapes; detail)
            'refused' PassNet does not run it (detail: its message)
            'neither' nor does PyTorch, on the same inputs
            'pytorch' PassNet runs it, PyTorch from Python does not (detail: its message)
  waived    a check of newer PyTorch that its Python side was run without, see Waivers
  seconds, replay_s, run_s, pytorch_s; largest (difference); and in bytes, each from the call's start
            on: *_rss_bytes, growth of peak resident memory; *_peak_bytes, what tensors held beside the inputs.

The inputs are in memory once: the worker replays them into shared memory, and Python's tensors are private mappings of it, so
that operators in place do no harm.
"""
import argparse
import importlib
import json
import math
import mmap
import os
import pathlib
import re
import sys
import time
import traceback
import warnings

import torch

sys.path.insert(0, os.path.dirname(__file__))
import agreement  # noqa: E402
import inferred  # noqa: E402
import worker_client  # noqa: E402

AGREE = ("equal", "close")
CALL_SEED = 1024  # the worker's, before every call
REPLAY_SEED = 123


class Waivers:
    """Checks that torch.nn.functional has gained after the corpus was captured: a graph that one of them refuses is compared with
    the same call made without it, and the table says so."""

    def __init__(self):
        self.waived = None
        self.batch_norm = torch.nn.functional.batch_norm
        torch.nn.functional.batch_norm = self.batch_norm_of_any_eps

    def batch_norm_of_any_eps(self, input, running_mean, running_var, weight=None, bias=None, training=False, momentum=0.1, eps=1e-5):
        if eps > 0:
            return self.batch_norm(input, running_mean, running_var, weight, bias, training, momentum, eps)
        self.waived = "PyTorch 2.11 refuses batch_norm with eps 0; run by torch.batch_norm"
        return torch.batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps, torch.backends.cudnn.enabled)


def map_tensors(entries, fd):
    """{name: tensor} over the bundle's memory, mapped copy-on-write. Closes fd."""
    size = os.fstat(fd).st_size
    memory = mmap.mmap(fd, size, flags=mmap.MAP_PRIVATE, prot=mmap.PROT_READ | mmap.PROT_WRITE) if size else None
    os.close(fd)
    tensors = {}
    for entry in entries:
        dtype, count = getattr(torch, entry["dtype"]), math.prod(entry["shape"])
        flat = torch.frombuffer(memory, dtype=dtype, count=count, offset=entry["offset"]) if count else torch.empty(0, dtype=dtype)
        tensors[entry["name"]] = flat.reshape(entry["shape"])
    return tensors


# Modules that register the operators of a namespace with PyTorch.
REGISTERED_BY = {"torch.ops.transformers.": "transformers.integrations.moe", "torch.ops.torchvision.": "torchvision"}


def load_module(text, file):
    """GraphModule of a model.py, with every device read as the CPU."""
    for namespace, module in REGISTERED_BY.items():
        if namespace in text:
            importlib.import_module(module)
    text = re.sub(r"device\(type=([\"'])cuda\1, index=\d+\)", "device(type='cpu')", text)
    namespace = {"device": torch.device, "inf": float("inf"), "nan": float("nan")}
    exec(compile(text, file, "exec"), namespace)
    return namespace["GraphModule"]()


def call_module(module, inputs):
    """What forward returns, as a tuple, under the seed rule."""
    names = module.forward.__code__.co_varnames[1:module.forward.__code__.co_argcount]
    torch.manual_seed(CALL_SEED)
    with torch.no_grad():
        outputs = module.forward(*[inputs[name] for name in names])
    return outputs if isinstance(outputs, (tuple, list)) else (outputs,)


def value_json(value):
    """VALUE of docs/protocol.md for an output that is no tensor."""
    if isinstance(value, bool):
        return {"bool": value}
    if isinstance(value, int):
        return {"int": value}
    if isinstance(value, float):
        return {"float": value}
    if isinstance(value, (tuple, list)):
        return {"list": [value_json(element) for element in value]}
    return {"none": True}


def compare(expected, found, scalars):
    """(verdict, largest difference, detail) of all outputs."""
    verdict, largest = "equal", 0.0
    if len(expected) != len(found) + len(scalars):
        return "differs", math.inf, f"{len(found) + len(scalars)} outputs, expected {len(expected)}"
    for i, value in enumerate(expected):
        name = f"out_{i}"
        if not isinstance(value, torch.Tensor):
            if scalars.get(name) != value_json(value):
                return "differs", math.inf, f"{name}: {scalars.get(name, 'a tensor')}, expected {value!r}"
            continue
        if name not in found:
            return "differs", math.inf, f"{name}: {scalars.get(name)}, expected a tensor"
        one, gap, detail = agreement.difference(value, found[name])
        largest = max(largest, gap)
        if one == "differs":
            return one, largest, f"{name}: {detail}"
        verdict = "close" if one == "close" else verdict
    return verdict, largest, ""


def status_bytes(pid, key):
    """A line of /proc/PID/status, in bytes."""
    with open(f"/proc/{pid}/status") as file:
        return next(int(line.split()[1]) * 1024 for line in file if line.startswith(key + ":"))


class PeakMemory:
    """Peak resident memory of a process from now on, above what it holds now."""

    def __init__(self, pid):
        self.pid = pid
        with open(f"/proc/{pid}/clear_refs", "w") as file:
            file.write("5")
        self.before = status_bytes(pid, "VmRSS")

    def read(self):
        return status_bytes(self.pid, "VmHWM") - self.before


def peak_of_tensors(profiler):
    """The most bytes that tensors held at a time, from the allocations that PyTorch's CPU allocator reports."""
    held = peak = 0
    events = [event for event in profiler.profiler.kineto_results.events() if event.name() == "[memory]"]
    for event in sorted(events, key=lambda event: event.start_ns()):
        held += event.nbytes()
        peak = max(peak, held)
    return peak


class Checker:
    def __init__(self, options):
        self.options = options
        self.worker = None
        self.waivers = Waivers()

    def start_worker(self):
        if self.worker is None:
            self.worker = worker_client.Worker(self.options.worker, threads=self.options.threads, timeout_s=None)
            self.worker.ask("hello")

    def check(self, directory):
        """The record of one graph."""
        record = {"graph": str(directory)}
        texts = {name: (directory / f"{name}.py").read_text() if (directory / f"{name}.py").exists() else ""
                 for name in ("model", "weight_meta", "input_meta")}
        begin = time.monotonic()
        inputs = {}
        try:
            self.start_worker()
            peak = PeakMemory(self.worker.process.pid)
            outputs, scalars = self.run_worker(directory, texts, inputs, record)
            record["our_rss_bytes"] = peak.read()
        except worker_client.WorkerError as error:
            record |= {"verdict": "refused", "kind": error.kind, "detail": str(error)}
        except (EOFError, OSError) as gone:
            code, self.worker = self.worker.process.wait(), None
            return record | {"verdict": "crash", "detail": f"{gone}; exit code {code}"}
        finally:
            record["run_s"] = time.monotonic() - begin - record.get("replay_s", 0.0)
        if record.get("verdict") == "refused" and not inputs:
            return record
        begin = time.monotonic()
        peak = PeakMemory("self")
        try:
            expected = self.run_pytorch(directory, texts, inputs, record)
        except Exception as error:  # noqa: BLE001: whatever PyTorch says of this graph is the finding
            detail = f"{type(error).__name__}: {error}".split("\n")[0]
            if record.get("verdict") == "refused":
                return record | {"verdict": "neither", "detail": f"{record['detail']} | PyTorch: {detail}"}
            return record | {"verdict": "pytorch", "detail": detail}
        finally:
            record["pytorch_s"] = time.monotonic() - begin
        if record.get("verdict") == "refused":
            return record
        record["pytorch_rss_bytes"] = peak.read()
        verdict, record["largest"], detail = compare(expected, outputs, scalars)
        if verdict in AGREE and record.get("types"):
            verdict, detail = "types", record["types"]
        return record | {"verdict": verdict, "detail": detail}

    def run_worker(self, directory, texts, inputs, record):
        """The outputs as tensors over shared memory, and those that are no tensors; fills in the inputs before the call."""
        ask = self.worker.ask
        begin = time.monotonic()
        ask("load", id="g", file=str(directory / "model.py"), model=texts["model"])
        metas = {name: worker_client.records(texts[name]) for name in ("weight_meta", "input_meta")}
        try:
            if self.options.shapes:
                inferred_values = ask("infer", id="g", **metas)[0]["values"]
            reply, fds = ask("inputs", id="g", seed=REPLAY_SEED, **metas)
            record["replay_s"] = time.monotonic() - begin
            record["input_bytes"] = os.fstat(fds[0]).st_size
            inputs.update(map_tensors(reply["tensors"], fds[0]))
            reply, fds = ask("run", id="g", checked=False)
            record["our_peak_bytes"] = reply.get("peak_bytes")
            if self.options.shapes:
                record["types"] = inferred.difference(inferred_values, ask("trace", id="g")[0]["values"])
            return map_tensors(reply["outputs"], fds[0]), reply["scalars"]
        finally:
            ask("unload", id="g")

    def run_pytorch(self, directory, texts, inputs, record):
        self.waivers.waived = None
        module = load_module(texts["model"], str(directory / "model.py"))
        try:
            if not self.options.memory:
                return call_module(module, inputs)
            with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU], profile_memory=True) as profiler:
                outputs = call_module(module, inputs)
            record["pytorch_peak_bytes"] = peak_of_tensors(profiler)
            return outputs
        finally:
            if self.waivers.waived:
                record["waived"] = self.waivers.waived


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--worker", required=True)
    parser.add_argument("--threads", type=int, required=True)
    parser.add_argument("--reply", type=int, required=True)
    parser.add_argument("--shapes", action="store_true")
    parser.add_argument("--memory", action="store_true", help="record PyTorch's peak of tensor memory, too")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    warnings.simplefilter("ignore")  # PyTorch's, of functions it will drop
    # Where memory runs out, the kernel is to end this process and its worker rather than another program of the user's.
    pathlib.Path("/proc/self/oom_score_adj").write_text("1000")
    checker = Checker(options)
    for line in sys.stdin:
        try:
            record = checker.check(pathlib.Path(json.loads(line)["graph"]))
        except Exception:  # noqa: BLE001: a fault of the harness is told as such and ends neither it nor the run
            record = {"graph": json.loads(line)["graph"], "verdict": "harness", "detail": " < ".join(traceback.format_exc().strip().splitlines()[:-4:-1])}
        os.write(options.reply, (json.dumps(record) + "\n").encode())


if __name__ == "__main__":
    main()
