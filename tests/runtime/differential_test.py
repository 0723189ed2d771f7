"""PyTorch from Python against passnet-worker on the same inputs, graph by graph.

Every graph directory below the given roots: the worker replays the inputs, runs the graph and gives its outputs; PyTorch
executes model.py on the same inputs. They agree when every output has the same type and shape and is bit-equal or passes
the tolerance ladder at t = -5 (spec E.3). Exit code 77: there is no corpus.
"""
import argparse
import collections
import math
import os
import pathlib
import re
import sys
import time

import torch

sys.path.insert(0, os.path.dirname(__file__))
import worker_client  # noqa: E402

TOLERANCE = {torch.float16: (1e-5, 1e-3), torch.bfloat16: (1e-5, 1.6e-2), torch.float32: (1e-5, 1.3e-6),
             torch.float64: (1e-7, 1e-7), torch.complex64: (1e-5, 1.3e-6), torch.complex128: (1e-7, 1e-7)}
CALL_SEED = 1024  # the worker's, before every call


def to_torch(dtype, array):
    tensor = torch.from_numpy(array)
    return tensor.view(torch.bfloat16) if dtype == "bfloat16" else tensor


def run_python(directory, inputs):
    """What forward returns on copies of `inputs`, from Python."""
    namespace = {}
    text = (directory / "model.py").read_text().replace('device(type="cuda", index=0)', 'device(type="cpu")')
    text = text.replace("device(type='cuda', index=0)", "device(type='cpu')")
    exec(compile(text, str(directory / "model.py"), "exec"), namespace)
    namespace.setdefault("device", torch.device)
    namespace.setdefault("inf", float("inf"))
    module = namespace["GraphModule"]()
    names = module.forward.__code__.co_varnames[1:module.forward.__code__.co_argcount]
    torch.manual_seed(CALL_SEED)
    with torch.no_grad():
        return module.forward(*[inputs[name].clone() for name in names])


def difference(expected, found):
    """'' when they agree, 'equal' when bit for bit, else what differs."""
    if expected.dtype != found.dtype or expected.shape != found.shape:
        return f"{found.dtype} {list(found.shape)}, expected {expected.dtype} {list(expected.shape)}"
    if torch.equal(expected, found) or torch.equal(torch.nan_to_num(expected), torch.nan_to_num(found)) and torch.equal(
            torch.isnan(expected), torch.isnan(found)):
        return "equal"
    if expected.dtype not in TOLERANCE:
        return f"{(expected != found).sum().item()} of {expected.numel()} elements differ"
    wide = torch.complex128 if expected.is_complex() else torch.float64
    atol, rtol = TOLERANCE[expected.dtype]
    gap = (expected.to(wide) - found.to(wide)).abs()
    bad = ~((gap <= atol + rtol * expected.to(wide).abs()) | (expected == found) | (expected.isnan() & found.isnan()))
    return f"{bad.sum().item()} of {expected.numel()} elements beyond t = -5, largest difference {gap.max().item():.3g}" if bad.any() else ""


def check(worker, directory):
    """(verdict, detail): verdict is 'equal', 'close', 'differs', 'worker', 'python' or 'inputs'."""
    texts = {name: (directory / f"{name}.py").read_text() if (directory / f"{name}.py").exists() else ""
             for name in ("weight_meta", "input_meta")}
    try:
        worker.ask("load", id="g", file=str(directory / "model.py"), model=(directory / "model.py").read_text())
        reply, fds = worker.ask("inputs", id="g", seed=123, **texts)
        tensors = worker_client.read_bundle(reply["tensors"], fds[0])
        entries, fd = worker_client.write_bundle(tensors)
        worker.ask("set_inputs", fds=[fd], id="g", tensors=entries)
        os.close(fd)
        reply, fds = worker.ask("run", id="g", checked=False)
        found = worker_client.read_bundle(reply["outputs"], fds[0])
        worker.ask("unload", id="g")
    except worker_client.WorkerError as error:
        return "worker", str(error)
    try:
        expected = run_python(directory, {name: to_torch(*value) for name, value in tensors.items()})
    except Exception as error:  # noqa: BLE001: whatever PyTorch says of this graph is the finding
        return "python", str(error).split("\n")[0]
    verdict = "equal"
    for i, value in enumerate(expected):
        name = f"out_{i}"
        if not isinstance(value, torch.Tensor):
            if name in found:
                return "differs", f"{name}: a tensor, expected {value!r}"
            continue
        if name not in found:
            return "differs", f"{name}: missing"
        detail = difference(value, to_torch(*found[name]))
        if detail and detail != "equal":
            return "differs", f"{name}: {detail}"
        verdict = "close" if detail == "" else verdict
    return verdict, ""


def element_count(directory):
    """Elements of all inputs, from the shapes in weight_meta.py."""
    path = directory / "weight_meta.py"
    shapes = re.findall(r"shape = \[([^\]]*)\]", path.read_text()) if path.exists() else []
    return sum(math.prod(int(size) for size in shape.split(",") if size.strip()) for shape in shapes)


def main():
    source = pathlib.Path(os.environ.get("PASSNET_SOURCE_DIR", "."))
    corpus = pathlib.Path(os.environ.get("PASSNET_CORPUS") or source / "../shared/corpus")
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("roots", nargs="*", type=pathlib.Path, default=[corpus / "passbench"])
    parser.add_argument("--worker", default=os.path.join(os.environ.get("PASSNET_BINARY_DIR", "build"), "bin/passnet-worker"))
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--max-elements", type=float, default=5e8, help="skip graphs whose inputs have more elements")
    parser.add_argument("--every", type=int, default=1, help="only each N-th graph")
    options = parser.parse_args()
    directories = sorted(path.parent for root in options.roots if root.exists() for path in root.rglob("model.py"))[::options.every]
    if not directories:
        print(f"skipped: 0 graphs below {', '.join(map(str, options.roots))}")
        return 77
    found = len(directories)
    directories = [directory for directory in directories if element_count(directory) <= options.max_elements]
    print(f"{found - len(directories)} of {found} graphs are left out: more than {options.max_elements:g} input elements")
    torch.set_num_threads(options.threads)
    worker = worker_client.Worker(options.worker, threads=options.threads)
    counts = collections.Counter()
    for directory in directories:
        begin = time.monotonic()
        try:
            verdict, detail = check(worker, directory)
        except (EOFError, OSError) as gone:
            verdict, detail = "crash", f"{gone}; exit code {worker.process.wait()}"
            worker = worker_client.Worker(options.worker, threads=options.threads)
        counts[verdict] += 1
        print(f"{verdict:8} {time.monotonic() - begin:6.2f} s  {directory.name}  {detail}", flush=True)
    worker.close()
    print(f"{len(directories)} graphs: " + ", ".join(f"{count} {verdict}" for verdict, count in sorted(counts.items())))
    return 0 if counts["equal"] + counts["close"] == len(directories) else 1


if __name__ == "__main__":
    sys.exit(main())
