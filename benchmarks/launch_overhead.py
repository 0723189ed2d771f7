"""What a launch of a Triton kernel costs end to end: passnet's, the same kernel in CUDA, and Triton's own launcher from Python.

A chain of relu(x + y) over 2,000 elements, one launch for each link, so that little but launching is timed. Triton from Python is measured as
upstream runs a pass: the replacement in an fx.GraphModule, 25 calls of warm-up, then 100 trials, synchronized before and after.
Needs a GPU.
Usage: launch_overhead.py PASSNET [LAUNCHES…]: LAUNCHES are numbers of launches in one pass, 1 and 4 when none is given.
"""

import json
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

MODEL = """\
import torch

class GraphModule(torch.nn.Module):

    def forward(self, in_0, in_1):
LINKS
        return (in_1,)
"""
META = """\
class Program_weight_tensor_meta_{name}:
\tname = "{name}"
\tshape = [40, 50]
\tdtype = "torch.float32"
\tdevice = "cpu"
\tmean = 0.5
\tstd = 2.0
"""
ENDS = """
def pattern(x, y):
LINKS
    return y

def replacement_args(x, y):
    return (x, y)

@torch.fx.wrap
def add_relu(x, y):
    for turn in range(LAUNCHES):
        out = torch.empty_like(x)
        LAUNCH
        y = out
    return y

def replacement_func():
    return add_relu
"""
TRITON = """\
import torch
import triton
import triton.language as tl

@triton.jit
def add_relu_kernel(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < n)
    y = tl.load(y_ptr + at, mask=at < n)
    tl.store(out_ptr + at, tl.maximum(x + y, 0), mask=at < n)
""" + ENDS.replace("LAUNCH\n", "add_relu_kernel[(triton.cdiv(x.numel(), 256),)](x, y, out, x.numel(), BLOCK=256, num_warps=4)\n")
CUDA = "import torch\n" + ENDS.replace("LAUNCH\n", "add_relu_kernel[(8,), 256](x, y, out, x.numel(), T=x.dtype)\n")
KERNEL = """\
#include <passnet/kernel.h>

PASSNET_KERNEL add_relu_kernel(const T* x, const T* y, T* out, int64_t n) {
  for (int64_t i = passnet::global_index(); i < n; i += passnet::global_count()) out[i] = passnet::relu(x[i] + y[i]);
}
"""


def links(number, x, y, indent):
    return "\n".join([f"{indent}{y} = torch.nn.functional.relu({x} + {y}, inplace = False)"] * number)


def write_sample(sample, number, text, kernel=None):
    graph, passes = sample / "graphs" / "small", sample / "pass_dir"
    graph.mkdir(parents=True)
    passes.mkdir()
    (graph / "model.py").write_text(MODEL.replace("LINKS", links(number, "in_0", "in_1", " " * 8)))
    (graph / "weight_meta.py").write_text("\n".join(META.format(name=name) for name in ("in_0", "in_1")))
    (passes / "add_relu.py").write_text(text)
    if kernel:
        (passes / "add_relu.cu").write_text(kernel)
    (passes / "sorted_output_pass_rule_names.json").write_text('["add_relu"]')


def evaluate(passnet, sample, out):
    out = out / sample.name
    subprocess.run([passnet, "eval", "--device", "cuda", sample, "--out", out], check=True, stdout=subprocess.DEVNULL)
    record = json.loads((out / sample.name / "records.jsonl").read_text())
    assert record["stage"] == "done" and not record["error"], record["error"]
    same = next(track for track in record["candidate"]["others"] if track["clock"] == "host" and track["inputs"] == "same")
    return {"mode": record["candidate"]["mode"], "new inputs": statistics.median(record["candidate"]["trials_us"]),
            "same inputs": statistics.median(same["trials_us"])}


def time_triton(text):
    import importlib.util

    import torch

    with tempfile.TemporaryDirectory() as directory:
        path = pathlib.Path(directory) / "launched.py"
        path.write_text(text)
        spec = importlib.util.spec_from_file_location("launched", path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        graph = torch.fx.Graph()
        x, y = graph.placeholder("x"), graph.placeholder("y")
        graph.output((graph.call_function(module.replacement_func(), (x, y)),))
        compiled = torch.fx.GraphModule(torch.nn.Module(), graph)
        x, y = torch.randn(40, 50, device="cuda"), torch.randn(40, 50, device="cuda")
        trials = []
        with torch.no_grad():
            for trial in range(125):
                torch.cuda.synchronize()
                start = time.perf_counter()
                compiled(x, y)
                torch.cuda.synchronize()
                if trial >= 25:
                    trials.append(1e6 * (time.perf_counter() - start))
    return statistics.median(trials)


def main():
    passnet, numbers = sys.argv[1], [int(number) for number in sys.argv[2:]] or [1, 4]
    with tempfile.TemporaryDirectory() as directory:
        root = pathlib.Path(directory)
        for number in numbers:
            triton, cuda = (text.replace("LAUNCHES", str(number)).replace("LINKS", links(number, "x", "y", " " * 4)) for text in (TRITON, CUDA))
            write_sample(root / f"triton{number}", number, triton)
            write_sample(root / f"cuda{number}", number, cuda, KERNEL)
            print(json.dumps({"launches": number, "triton_us": evaluate(passnet, root / f"triton{number}", root / "out"),
                              "cuda_us": evaluate(passnet, root / f"cuda{number}", root / "out"),
                              "triton_from_python_us": time_triton(triton)}))


if __name__ == "__main__":
    main()
