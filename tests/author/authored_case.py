"""Samples of graphs that are given as statements, for the tests of what the author writes."""

import json
import os
import pathlib
import re
import sys

SOURCE = pathlib.Path(os.environ["PASSNET_SOURCE_DIR"])
sys.path[:0] = [str(SOURCE / "tests" / "eval"), str(SOURCE / "tests")]
from passnet_case import PassnetCase  # noqa: E402
from tiers import FULL  # noqa: E402

MODEL = """import torch

class GraphModule(torch.nn.Module):

    def forward(self, {inputs}):
{body}        return ({results},)
"""

META = """class Program_weight_tensor_meta_{name}:
\tname = "{name}"
\tshape = {shape}
\tdtype = "torch.{dtype}"
\tdevice = "cpu"
\tmean = 0.1
\tstd = 1.0
{bounds}"""

F = "torch.nn.functional."
# Products of more steps than a CPU's loops are written for. name: statements, results.
PRODUCTS = {
    "linear": ([f"t = {F}linear(a, b, c)", f"u = {F}gelu(t)"], "u"),
    "attention": (["t = a.transpose(-2, -1)", "u = torch.matmul(a, t)", "v = u * 0.125", f"w = {F}softmax(v, dim = -1)", "x = torch.matmul(w, b)", "y = x.transpose(1, 2)", "z = y.contiguous()"], "z"),
    "columns": (["t = torch.functional.einsum('bck,bcj->bkj', a, b)", "u = c + t"], "u"),
    "channels": (["t = torch.conv2d(a, b, c, (1, 1), (0, 0), (1, 1), 1)", f"u = {F}silu(t, inplace = False)", "v = u + d"], "v"),
    "every_other_channel": (["t = torch.conv2d(a, b, None, (2, 2), (0, 0), (1, 1), 1)", f"u = {F}relu(t, inplace = False)"], "u"),
}
FLOATS = ("float32", "float16", "bfloat16")


class AuthoredCase(PassnetCase):
    device = "cpu"

    def outputs(self, name, inputs, statements, results):
        """Writes a graph of these statements on these inputs, and has the author write its passes.
        Returns its outputs with them, out_0 and so on, and what the author leaves to PyTorch."""
        from safetensors.torch import load_file, save_file  # brings PyTorch, which takes seconds

        graph = self.root / name / "graphs" / "g"
        graph.mkdir(parents=True)
        used = [key for key in inputs if any(re.search(rf"\b{key}\b", line) for line in statements)]
        body = "".join(f"        {line}\n" for line in statements)
        (graph / "model.py").write_text(MODEL.format(inputs=", ".join(used), body=body, results=", ".join(results)))
        (graph / "weight_meta.py").write_text("\n".join(
            META.format(name=key, shape=list(inputs[key].shape), dtype=str(inputs[key].dtype)[6:], bounds="") for key in used))
        (graph / "input_meta.py").write_text("")
        (self.root / name / "graph_list.txt").write_text("g\n")
        values, saved = self.root / "inputs.safetensors", self.root / "results.safetensors"
        save_file({key: inputs[key].contiguous() for key in used}, values)
        done = self.passnet("author", self.root / name, "--write-only", "-o", self.out, "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        [report] = json.loads(done.stdout)
        done = self.passnet("run", graph, "--pass", self.out / name / "pass_dir", "--inputs", values, "--out", saved,
                            *(() if self.device == "cpu" else ("--device", self.device)))
        self.assertEqual(done.returncode, 0, done.stderr)
        return load_file(saved), [left["statement"] for left in report["left"]]

    def graph(self, place, statements, results, shapes, dtype):
        names = [chr(ord("a") + i) for i in range(len(shapes))]
        place.mkdir(parents=True)
        body = "".join(f"        {statement}\n" for statement in statements)
        (place / "model.py").write_text(MODEL.format(inputs=", ".join(names), body=body, results=results))
        # A batch norm takes its variance from the third input, and no logarithm or root is of less than nothing.
        (place / "weight_meta.py").write_text("\n".join(
            META.format(name=name, shape=list(shape), dtype=dtype, bounds="\tmin_val = 0.1\n\tmax_val = 2.0\n" if len(shape) == 1 else "")
            for name, shape in zip(names, shapes)))
        (place / "input_meta.py").write_text("")

    def sample_of(self, name, statements, results, sets, dtypes=FLOATS, turn=None):
        """A sample with a graph of each set of shapes at each dtype. With a turn, the position of the sample among others:
        in the quick tier one graph, whose dtype and set follow from the turn, so that all of them occur evenly; in the full
        tier graphs of the first dtype for all sets, and of one of the others for one set."""
        sample = self.root / name
        graphs = []
        for i, items in enumerate(sets):
            shapes = [item for item in items if isinstance(item, tuple)]
            numbers = dict(pair for item in items if isinstance(item, dict) for pair in item.items())
            for dtype in self.dtypes_of_set(i, len(sets), dtypes, turn):
                graphs.append(f"{i}_{dtype}")
                written = [re.sub(r"\$([a-z]+)", lambda found: str(numbers[found[1]]), statement) for statement in statements]
                self.graph(sample / "graphs" / graphs[-1], written, results, shapes, dtype)
        (sample / "graph_list.txt").write_text("\n".join(graphs) + "\n")
        return sample

    @staticmethod
    def dtypes_of_set(i, sets, dtypes, turn):
        """The dtypes at which a sample has set i of so many, as sample_of says."""
        if turn is None:
            return dtypes
        if not FULL:
            return [dtypes[turn % len(dtypes)]] if i == turn // len(dtypes) % sets else []
        return [dtypes[0], *([dtypes[1 + turn % 2]] if i == turn // 2 % sets else [])]
