"""Graphs drawn by a seed, as modules through torch.compile(backend="passnet"), against eager on the same inputs.

Usage: corpus.py DIR [--graphs 200] [--seed 1] [--most-mb 200]. Prints a line per graph, then the counts:
  equal, close (t = -5), differs, falls back (reason), crash, refused by eager.
Exit code 1 when one differs or the backend raises.
"""

import argparse
import collections
import itertools
import json
import logging
import pathlib
import random
import sys
import time

import package

sys.path.insert(0, str(package.SOURCE / "tests" / "runtime"))
import parity_check  # noqa: E402
import torch  # noqa: E402
import worker_client  # noqa: E402

from passnet import backend  # noqa: E402


def draw(root, count, seed, most_bytes):
    """Directories of graphs whose inputs fit."""
    found = sorted(file.parent for file in pathlib.Path(root).rglob("model.py") if (file.parent / "weight_meta.py").exists())
    random.Random(seed).shuffle(found)
    return list(itertools.islice((one for one in found if input_bytes(one) <= most_bytes), count))


def input_bytes(directory):
    records = worker_client.records((directory / "weight_meta.py").read_text())
    sizes = [record.get("shape") or [] for record in records]
    total = 0
    for shape in sizes:
        elements = 4
        for size in shape:
            elements *= size if isinstance(size, int) else 1
        total += elements
    return total


class Said(logging.Handler):
    """What the backend warned of since it was last asked."""

    def __init__(self):
        super().__init__()
        self.lines = []

    def emit(self, record):
        self.lines.append(record.getMessage())

    def take(self):
        taken, self.lines = self.lines, []
        return taken


class Check:
    def __init__(self):
        self.worker = None
        self.said = Said()
        backend.log.addHandler(self.said)
        backend.log.propagate = False
        parity_check.Waivers()

    def inputs(self, directory):
        """Replayed by a worker, which goes after a graph that it does not load."""
        if self.worker is None:
            self.worker = worker_client.Worker(package.BUILD / "bin" / "passnet-worker")
            self.worker.ask("hello")
        ask = self.worker.ask
        ask("load", id="g", file=str(directory / "model.py"), model=(directory / "model.py").read_text())
        try:
            metas = {}
            for name in ("weight_meta", "input_meta"):
                file = directory / f"{name}.py"
                metas[name] = worker_client.records(file.read_text() if file.exists() else "")
            reply, fds = ask("inputs", id="g", seed=parity_check.REPLAY_SEED, **metas)
            return parity_check.map_tensors(reply["tensors"], fds[0])
        finally:
            ask("unload", id="g")

    def check(self, directory):
        """(verdict, detail) of one graph."""
        try:
            inputs = self.inputs(directory)
        except worker_client.WorkerError as error:
            return "not replayed", str(error)
        except (EOFError, OSError) as error:
            self.worker = None
            return "not replayed", str(error)
        module = parity_check.load_module((directory / "model.py").read_text(), "model.py")

        def copies():
            return {name: value.clone() for name, value in inputs.items()}

        try:
            before = copies()
            expected = parity_check.call_module(module, before)
        except Exception as error:  # noqa: BLE001: eager's own refusal
            return "refused by eager", f"{type(error).__name__}: {error}".splitlines()[0]
        torch._dynamo.reset()
        backend._said.clear()
        after = copies()
        names = module.forward.__code__.co_varnames[1 : module.forward.__code__.co_argcount]
        compiled = torch.compile(module, backend=backend.backend)
        torch.manual_seed(parity_check.CALL_SEED)
        try:
            with torch.no_grad():
                outputs = compiled(*[after[name] for name in names])
        except Exception as error:  # noqa: BLE001: the finding
            return "crash", f"{type(error).__name__}: {error}".splitlines()[0]
        outputs = outputs if isinstance(outputs, (tuple, list)) else (outputs,)
        found = {f"out_{i}": value for i, value in enumerate(outputs) if isinstance(value, torch.Tensor)}
        scalars = {f"out_{i}": parity_check.value_json(value) for i, value in enumerate(outputs) if not isinstance(value, torch.Tensor)}
        verdict, _, detail = parity_check.compare(expected, found, scalars)
        if verdict in parity_check.AGREE:
            for name in names:
                if not torch.equal(before[name].nan_to_num(), after[name].nan_to_num()):
                    return "differs", f"input {name} is left otherwise"
        said = self.said.take()
        return (f"falls back, {verdict}", said[0]) if said else (verdict, detail)


def main(arguments=None):
    parser = argparse.ArgumentParser()
    parser.add_argument("root")
    parser.add_argument("--graphs", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--most-mb", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=1e9)
    options = parser.parse_args(arguments)
    check, counts, start = Check(), collections.Counter(), time.monotonic()
    for directory in draw(options.root, options.graphs, options.seed, options.most_mb << 20):
        if time.monotonic() - start > options.seconds:
            break
        verdict, detail = check.check(directory)
        counts[verdict] += 1
        print(f"{verdict}: {directory}: {detail}", flush=True)
    print(json.dumps(counts))
    return 1 if counts["differs"] or counts["crash"] or counts["falls back, differs"] else 0


if __name__ == "__main__":
    sys.exit(main())
