"""Microseconds of one call from Python of relu(x + y) on 1,024 numbers: a hand-written extension, passnet._C with a pass, the
backend of torch.compile with its guards, and eager. Prints the median of 30 rounds of 2,000 calls each, taken in turn.

Usage: PYTHONPATH=build/python benchmarks/python_overhead.py
"""

import importlib.util
import json
import statistics
import subprocess
import sysconfig
import tempfile
import time
from pathlib import Path

import torch

import passnet
from passnet import _C, backend, cache
from passnet.tracing import trace_whole

HERE = Path(__file__).parent
ROUNDS, CALLS = 30, 2000
PASSES = HERE.parent / "tests" / "python_api" / "add_relu"


def by_hand(scratch):
    where = Path(torch.__file__).parent
    target = scratch / "by_hand.so"
    subprocess.run(["g++", "-O2", "-march=native", "-shared", "-fPIC", "-std=c++20", f"-isystem{where}/include", f"-isystem{where}/include/torch/csrc/api/include",
                    f"-isystem{sysconfig.get_path('include')}", HERE / "python_overhead.cpp", "-o", target, f"-L{where}/lib", "-ltorch_python", "-ltorch_cpu",
                    "-lc10"], check=True)  # fmt: skip
    spec = importlib.util.spec_from_file_location("by_hand", target)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.add_relu


def add_relu(x, y):
    return torch.nn.functional.relu(x + y)


def main():
    x, y = torch.randn(1024), torch.randn(1024)
    with tempfile.TemporaryDirectory() as name:
        scratch = Path(name)
        report = passnet.trust(add_relu, (x, y), PASSES, cache_dir=str(scratch / "cache"))
        assert report.rows[0].status == "trusted", report
        entry, _ = cache.find(trace_whole(add_relu, (x, y)), str(scratch / "cache"))
        graph = _C.Graph(entry.plan["model"], json.dumps(entry.plan))
        compiled = torch.compile(add_relu, backend=backend.backend, options={"cache_dir": str(scratch / "cache")})
        sides = {"hand-written extension": by_hand(scratch), "passnet._C": graph, "backend passnet": compiled, "eager": add_relu}
        times = {side: [] for side in sides}
        with torch.no_grad():
            for side, call in sides.items():
                torch.testing.assert_close(torch.as_tensor(call(x, y)[0] if side in ("hand-written extension", "passnet._C") else call(x, y)), add_relu(x, y))
            for _ in range(ROUNDS):
                for side, call in sides.items():
                    start = time.perf_counter()
                    for _ in range(CALLS):
                        call(x, y)
                    times[side].append((time.perf_counter() - start) / CALLS * 1e6)
    for side, found in times.items():
        print(f"{side:24} {statistics.median(found):7.2f} us   (least {min(found):.2f})")


if __name__ == "__main__":
    main()
