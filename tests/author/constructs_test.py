"""What the author writes against PyTorch: every construct of its loops over odd, single and larger sizes, and random graphs."""

import json
import os
import pathlib
import random
import sys
import unittest

SOURCE = pathlib.Path(os.environ["PASSNET_SOURCE_DIR"])
sys.path[:0] = [str(SOURCE / "tests" / "eval")]
from passnet_case import PassnetCase

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
FLOATS = ("float32", "float16", "bfloat16")
# name: statements, results, the shapes of the inputs (several sets of them: graphs of one sample)
CONSTRUCTS = {
    "broadcast": (["t = a + b", "u = t * c"], "u", [[(3, 5, 7), (5, 1), (7,)], [(1, 1, 1), (1, 1), (1,)], [(2, 33, 65), (33, 1), (65,)]]),
    "softmax": ([f"t = {F}softmax(a, dim = -1)"], "t", [[(3, 7)], [(1, 1)], [(5, 333)], [(2, 2049)]]),
    "softmax_of_columns": ([f"t = {F}softmax(a, dim = 1)"], "t", [[(2, 5, 7)], [(1, 1, 3)], [(3, 40, 9)]]),
    "log_softmax": ([f"t = {F}log_softmax(a, -1)"], "t", [[(3, 7)], [(4, 130)]]),
    "softmax_mul_sum": (["t = torch.softmax(a, dim = 1)", "u = b * t", "v = torch.sum(u, dim = 1)"], "v", [[(2, 2, 6, 1), (2, 2, 6, 15)]]),
    "layer_norm": ([f"t = {F}layer_norm(a, (48,), b, c, 1e-05)", "u = t + a"], "t, u", [[(3, 48), (48,), (48,)], [(1, 48), (48,), (48,)]]),
    "group_norm": ([f"t = {F}group_norm(a, 3, b, c, 1e-05)", f"u = {F}silu(t)"], "u", [[(2, 6, 5, 5), (6,), (6,)]]),
    "batch_norm": ([f"t = {F}batch_norm(a, b, c, b, c, False, 0.1, 1e-05)", f"u = {F}relu(t)"], "u", [[(2, 5, 3, 3), (5,), (5,)]]),
    "means": (["t = a.mean(-1, keepdim = True)", "u = a - t", "v = u.pow(2)", "w = v.mean((1, 2))"], "u, w", [[(3, 5, 9)], [(1, 1, 1)]]),
    "var": (["t = torch.var(a, -1)", "u = torch.std(a, 1)"], "t, u", [[(3, 5, 9)], [(2, 33, 65)]]),
    "extremes": (["t = a.amax(-1)", "u = a.amin(1)", "v = a.max()"], "t, u, v", [[(3, 5, 9)], [(1, 1, 1)], [(2, 70, 33)]]),
    "norm": (["t = torch.norm(a, 2, -1, True)", "u = a / t"], "u", [[(3, 17)], [(1, 1)]]),
    "normalize": ([f"t = {F}normalize(a, p = 2, dim = 1)"], "t", [[(3, 17)], [(2, 300)]]),
    "transpose": (["t = a.transpose(1, 2)", "u = t.contiguous()", "v = u * 2.0"], "v", [[(2, 5, 9)], [(1, 33, 70)]]),
    "permute_reshape": (["t = a.permute(0, 2, 1, 3)", "u = t.reshape(2, 7, 15)", "v = u + 1.0"], "v", [[(2, 3, 7, 5)]]),
    "slices": (["t = a[(slice(None, None, None), slice(1, 4, None))]", "u = a[(Ellipsis, slice(None, None, 2))]", "v = t * 3.0", "w = u - 1.0"],
               "v, w", [[(3, 6)], [(1, 8)]]),
    "cat": (["t = torch.cat([a, b], dim = -1)", f"u = {F}gelu(t)"], "u", [[(3, 5), (3, 8)], [(1, 1), (1, 1)]]),
    "cat_rows": (["t = torch.cat((a, b), 0)", "u = t * t"], "u", [[(3, 5), (2, 5)]]),
    "stack": (["t = torch.stack([a, b], 1)", "u = t.neg()"], "u", [[(3, 5), (3, 5)]]),
    "rotary": (["t = a[(Ellipsis, slice(None, 8, None))]", "u = a[(Ellipsis, slice(8, None, None))]", "v = -u", "w = torch.cat((v, t), dim = -1)", "x = w * b"],
               "x", [[(2, 3, 16), (3, 16)]]),
    "pad": ([f"t = {F}pad(a, [1, 2, 0, 1], 'constant', 0.5)", "u = t + 1.0"], "u", [[(2, 3, 5)], [(1, 1, 1)]]),
    "roll": (["t = torch.roll(a, shifts = (-2, 1), dims = (1, 2))", "u = t * 2.0"], "u", [[(2, 5, 7)]]),
    "chunk": (["t = a.chunk(2, dim = -1)", "u = t[0]", "v = t[1]", f"w = {F}silu(u)", "x = w * v"], "x", [[(3, 10)], [(1, 64)]]),
    "expand": (["t = a.unsqueeze(1)", "u = t.expand(3, 4, 5)", "v = u + b"], "v", [[(3, 5), (3, 4, 5)]]),
    "repeat": (["t = a.repeat(2, 3)", "u = t + 1.0"], "u", [[(3, 5)], [(1, 2)]]),
    "repeat_interleave": (["t = a.repeat_interleave(3, dim = 1)", "u = t * 0.5"], "u", [[(3, 5)]]),
    "arange": (["t = torch.arange(0, 12)", "u = t.float()", "v = a * u"], "v", [[(3, 12)]]),
    "full": (["t = torch.full((3, 5), 2.5)", "u = torch.zeros(3, 5)", "v = torch.ones_like(a)", "w = a * t", "x = w + u", "y = x - v"], "y", [[(3, 5)]]),
    "max_pool": ([f"t = {F}max_pool2d(a, 3, 2, 1, 1, ceil_mode = False, return_indices = False)", "u = t + 1.0"], "u", [[(2, 3, 9, 11)], [(1, 1, 5, 5)]]),
    "avg_pool": ([f"t = {F}avg_pool2d(a, 3, 2, 1, False, False, None)", "u = t * 2.0"], "u", [[(2, 3, 9, 11)], [(1, 1, 5, 5)]]),
    "avg_pool_whole": ([f"t = {F}avg_pool2d(a, 2, 2, 0, False, True, None)"], "t", [[(2, 3, 8, 6)]]),
    "adaptive_pool": ([f"t = {F}adaptive_avg_pool2d(a, 1)", "u = t.flatten(1)"], "u", [[(2, 3, 7, 7)], [(1, 1, 1, 1)]]),
    "nearest": ([f"t = {F}interpolate(a, None, 2.0, 'nearest', None)", "u = t + b"], "u", [[(1, 3, 5, 7), (1, 3, 10, 14)]]),
    "bilinear": ([f"t = {F}interpolate(a, (9, 13), None, 'bilinear', False)", "u = t + b"], "u", [[(1, 3, 5, 7), (1, 3, 9, 13)]]),
    "in_place": (["t = a + b", f"u = {F}relu(t, inplace = True)", "v = u * 2.0"], "u, v", [[(3, 5), (3, 5)]]),
    "in_place_on_an_input": ([f"t = {F}silu(a, inplace = True)", "u = t.mean(-1)"], "t, u", [[(3, 5)], [(2, 70)]]),
    "in_place_by_its_old_name": (["t = a + b", "u = t.mul_(2.0)", "v = t - b"], "v", [[(3, 5), (3, 5)]]),
    "where": (["t = a > 0.5", "u = torch.where(t, a, b)", "v = u.masked_fill(t, -1.0)"], "v, t", [[(3, 5), (3, 5)]]),
    "activations": ([f"t = {F}gelu(a)", f"u = {F}hardswish(t)", f"v = {F}leaky_relu(u, 0.1)", "w = v.sigmoid()", "x = w.tanh()", "y = x.exp()"], "y", [[(3, 65)]]),
    "conversions": (["t = a.to(torch.float32)", "u = t * 3.0", "v = u.to(torch.float16)", "w = v.to(torch.int64)"], "u, v, w", [[(3, 5)]]),
}

# What random graphs are made of; {0} and {1} are values of one shape.
STEPS = ["{0} + {1}", "{0} * {1}", "{0} - {1}", "{0} * 0.5", "{0}.neg()", "{0}.abs()", "{0}.sigmoid()", "{0}.tanh()", F + "silu({0})", F + "relu({0})",
         "torch.maximum({0}, {1})", F + "softmax({0}, dim = -1)", "{0} - {0}.mean(-1, keepdim = True)", "{0}.transpose(-1, -2).contiguous().transpose(-1, -2)",
         "{0} + {1}.amax(1, keepdim = True)", "torch.roll({0}, shifts = 1, dims = -1)", F + "layer_norm({0}, ({width},), None, None, 1e-05)",
         "torch.cat([{0}, {1}], dim = -1)[(Ellipsis, slice(None, {width}, None))]", "torch.where({0} > {1}, {0}, {1})", "{0} / (1.0 + {1}.abs())"]


class Constructs(PassnetCase):
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

    def sample_of(self, name, statements, results, sets, dtypes=FLOATS):
        sample = self.root / name
        graphs = []
        for i, shapes in enumerate(sets):
            for dtype in dtypes:
                graphs.append(f"{i}_{dtype}")
                self.graph(sample / "graphs" / graphs[-1], statements, results, shapes, dtype)
        (sample / "graph_list.txt").write_text("\n".join(graphs) + "\n")
        return sample

    def check(self, samples):
        done = self.passnet("author", *samples, "--write-only", "-o", self.out, "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        for report in json.loads(done.stdout):
            with self.subTest(sample=report["sample"], written=True):
                self.assertGreater(len(report["passes"]), 0, report["left"])
                self.assertEqual(report["left"], [])
        for sample in samples:
            (self.out / sample.name / "pass_dir").rename(sample / "pass_dir")
        done = self.passnet("pass", "check", *samples, "--json")
        checked = json.loads(done.stdout)["graphs"]
        self.assertEqual(len(checked), sum(len((sample / "graph_list.txt").read_text().split()) for sample in samples))
        for one in checked:
            with self.subTest(graph=f"{one['sample']}/{one['graph']}"):
                # Graphs so small may be won by answers that take no work: their passes are right all the same.
                self.assertIn(one["verdict"], ("correct", "unranked"), json.dumps(one, indent=1)[:2000])
                self.assertGreater(one["sites"], 0)

    def test_each_construct_is_as_in_pytorch(self):
        self.check([self.sample_of(name, *construct) for name, construct in CONSTRUCTS.items()])

    def test_random_graphs_are_as_in_pytorch(self):
        samples = []
        for seed in range(12):
            draw = random.Random(seed)
            # A norm over a single element is nothing but PyTorch's own rounding errors.
            shape = (draw.choice((1, 2, 3)), draw.choice((1, 5, 16)), draw.choice((7, 32, 65)))
            values, statements = ["a", "b"], []
            for i in range(draw.randint(3, 7)):
                step = draw.choice(STEPS).format(draw.choice(values[-3:]), draw.choice(values), width=shape[-1])
                statements.append(f"t{i} = {step}")
                values.append(f"t{i}")
            samples.append(self.sample_of(f"random_{seed}", statements, ", ".join(values[2:]), [[shape, shape]]))
        self.check(samples)


if __name__ == "__main__":
    unittest.main(verbosity=2)
