"""`passnet pass new --from`: the passes that it writes are right, for every shipped sample and for small graphs of each operator.

Quick tier: each third shipped sample, at one of its dtypes in turn. Full tier: all samples at all of their dtypes.
"""

import json
import os
import pathlib
import re
import shutil
import unittest

import passnet_case

from tiers import each_nth, in_turn


passnet_case.take_one_processor()

LIST = "sorted_output_pass_rule_names.json"
SAMPLES = sorted(path.parent for path in (pathlib.Path(os.environ["PASSNET_SOURCE_DIR"]) / "samples").glob("*/graphs"))
HEAD = "import torch\n\nclass GraphModule(torch.nn.Module):\n\n    def forward(self, {inputs}):\n"

# name: body of forward, and shape (with a dtype or with a bound for integers) of each input.
GRAPHS = {
    "arithmetic": (
        """\
        tmp_0 = torch.add(in_0, in_1, alpha=2)
        tmp_1 = 3 - tmp_0
        tmp_2 = tmp_1 / 2.5
        tmp_3 = torch.clamp(tmp_2, min=-1.0, max=1.5)
        tmp_4 = tmp_3 ** 2
        tmp_5 = torch.maximum(tmp_4, in_1)
        return (tmp_5,)""",
        {"in_0": [2, 3, 5], "in_1": [3, 1]},
    ),
    "activations": (
        """\
        tmp_0 = torch.nn.functional.gelu(in_0)
        tmp_1 = torch.nn.functional.silu(tmp_0)
        tmp_2 = torch.nn.functional.softplus(tmp_1)
        tmp_3 = torch.nn.functional.leaky_relu(tmp_2, 0.2)
        tmp_4 = torch.nn.functional.elu(in_0)
        tmp_5 = torch.nn.functional.hardswish(in_0)
        tmp_6 = torch.nn.functional.mish(in_0)
        tmp_7 = torch.erf(in_0)
        return (tmp_3, tmp_4, tmp_5, tmp_6, tmp_7)""",
        {"in_0": [7, 33]},
    ),
    "comparisons": (
        """\
        tmp_0 = in_0 > 0.5
        tmp_1 = in_0 != in_1
        tmp_2 = tmp_0 & tmp_1
        tmp_3 = torch.where(tmp_2, in_0, in_1)
        tmp_4 = tmp_3.masked_fill(tmp_0, -3.0)
        tmp_5 = tmp_2.float()
        return (tmp_4, tmp_5)""",
        {"in_0": [4, 6], "in_1": [4, 6]},
    ),
    "views": (
        """\
        tmp_0 = in_0.transpose(1, 2)
        tmp_1 = tmp_0.reshape(2, -1)
        tmp_2 = tmp_1 + 1
        tmp_3 = in_0[:, 1:, None]
        tmp_4 = tmp_3.squeeze(2)
        tmp_5 = tmp_4.contiguous()
        tmp_6 = in_0.flatten(1)
        tmp_7 = tmp_6.unflatten(1, (3, 4))
        tmp_8 = tmp_7 * 2
        return (tmp_2, tmp_5, tmp_8)""",
        {"in_0": [2, 3, 4]},
    ),
    "parts": (
        """\
        chunk = in_0.chunk(3, dim=-1)
        tmp_0 = chunk[0]
        tmp_1 = chunk[1]
        split = in_0.split([2, 5], dim=1)
        tmp_2 = split[1]
        tmp_3 = tmp_0 * tmp_1
        tmp_4 = torch.cat([tmp_2, tmp_2, in_0], dim=1)
        tmp_5 = torch.stack((tmp_0, tmp_1), dim=1)
        return (tmp_3, tmp_4, tmp_5)""",
        {"in_0": [4, 7]},
    ),
    "reductions": (
        """\
        tmp_0 = in_0.sum(1)
        tmp_1 = in_0.mean((0, 2), keepdim=True)
        tmp_2 = torch.amax(in_0, dim=-1)
        tmp_3 = in_0.var(1, unbiased=False)
        tmp_4 = in_0.std(-1)
        max_1 = torch.max(in_0, 2)
        tmp_5 = max_1[0]
        tmp_6 = max_1[1]
        tmp_7 = torch.argmin(in_0, dim=1)
        tmp_8 = torch.norm(in_0, p=2, dim=1, keepdim=True)
        tmp_9 = torch.cumsum(in_0, 1)
        tmp_10 = torch.logsumexp(in_0, 1)
        tmp_11 = in_0.sum()
        return (tmp_0, tmp_1, tmp_2, tmp_3, tmp_4, tmp_5, tmp_6, tmp_7, tmp_8, tmp_9, tmp_10, tmp_11)""",
        {"in_0": [3, 17, 5]},
    ),
    "softmaxes": (
        """\
        tmp_0 = torch.softmax(in_0, dim=1)
        tmp_1 = torch.nn.functional.log_softmax(in_0, dim=-1)
        tmp_2 = tmp_0 + tmp_1
        return (tmp_2,)""",
        {"in_0": [3, 5, 9]},
    ),
    "norms": (
        """\
        tmp_0 = torch.nn.functional.layer_norm(in_0, (4, 6), w_0, w_1, 1e-05)
        tmp_1 = torch.nn.functional.group_norm(in_0, 2, w_2, w_2, 1e-05)
        tmp_2 = torch.nn.functional.batch_norm(in_0, w_2, w_3, w_2, w_2, False, 0.1, 1e-05)
        tmp_3 = torch.nn.functional.normalize(in_0, dim=1)
        tmp_4 = torch.nn.functional.rms_norm(in_0, (6,), w_4, 1e-06)
        return (tmp_0, tmp_1, tmp_2, tmp_3, tmp_4)""",
        {"in_0": [2, 8, 4, 6], "w_0": [4, 6], "w_1": [4, 6], "w_2": [8], "w_3": [8], "w_4": [6]},
    ),
    "tables": (
        """\
        tmp_0 = torch.nn.functional.embedding(i_0, w_0)
        tmp_1 = w_0[i_0]
        tmp_2 = torch.index_select(w_0, 1, i_1)
        tmp_3 = torch.roll(w_0, shifts=(2, -1), dims=(0, 1))
        tmp_4 = torch.flip(w_0, (1,))
        tmp_5 = torch.nn.functional.pad(w_0, (1, 2, 0, 3))
        return (tmp_0, tmp_1, tmp_2, tmp_3, tmp_4, tmp_5)""",
        {"i_0": ([2, 3], 5), "i_1": ([4], 3), "w_0": [5, 3]},
    ),
    "products": (
        """\
        tmp_0 = torch.nn.functional.linear(in_0, w_0, w_1)
        tmp_1 = torch.matmul(in_0, in_1)
        tmp_2 = tmp_0.relu()
        return (tmp_2, tmp_1)""",
        {"in_0": [2, 3, 8], "w_0": [5, 8], "w_1": [5], "in_1": [2, 8, 4]},
    ),
    "planes": (
        """\
        tmp_0 = torch.conv2d(in_0, w_0, w_1, (2, 1), (1, 0), (1, 1), 2)
        tmp_1 = torch.nn.functional.max_pool2d(in_0, 3, 2, 1)
        tmp_2 = torch.nn.functional.avg_pool2d(in_0, 2)
        tmp_3 = torch.nn.functional.adaptive_avg_pool2d(in_0, (3, 2))
        return (tmp_0, tmp_1, tmp_2, tmp_3)""",
        {"in_0": [2, 4, 9, 8], "w_0": [6, 2, 3, 3], "w_1": [6]},
    ),
    "in place": (
        """\
        tmp_0 = in_0 * 2
        tmp_0 += in_1
        tmp_1 = tmp_0
        tmp_2 = torch.nn.functional.relu(tmp_1, inplace=True)
        return (tmp_2,)""",
        {"in_0": [3, 4], "in_1": [3, 4]},
    ),
}
# A lookup alone moves what it is given, and pooling to several places has windows of several sizes.
LEFT_OUT = {"tables": ["tmp_1"], "planes": ["tmp_3"]}


def meta(name, shape):
    bound = None
    if isinstance(shape, tuple):
        shape, bound = shape
    lines = [f"class Program_weight_tensor_meta_{name}:", f'\tname = "{name}"', f"\tshape = {shape}",
             f'\tdtype = "torch.{"int64" if bound else "float32"}"', '\tdevice = "cpu"']
    lines += ["\tmean = None", "\tstd = None", f"\tmax_val = {bound - 1}", "\tmin_val = 0"] if bound else ["\tmean = 0.3", "\tstd = 1.2"]
    if name in ("w_3",):
        lines.append("\tmin_val = 0")  # a variance
    return "\n".join(lines) + "\n"


class NewPassTest(passnet_case.PassnetCase):
    def setUp(self):
        super().setUp()
        shutil.rmtree(self.sample)

    def write_graph(self, name, body, inputs):
        directory = self.sample / "graphs" / name
        directory.mkdir(parents=True)
        (directory / "model.py").write_text(HEAD.format(inputs=", ".join(inputs)) + body + "\n")
        (directory / "weight_meta.py").write_text("\n".join(meta(*entry) for entry in inputs.items()))

    def new_pass(self, *flags, directory="pass_dir"):
        done = self.passnet("pass", "new", "written", self.sample / directory, "--from", self.sample, *flags)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def check(self, *samples):
        """Checks these samples, by default the only one; returns a line for each graph."""
        done = self.passnet("pass", "check", *(samples or [self.sample]))
        texts = "\n".join(path.read_text() for sample in samples or [self.sample] for path in sample.glob("pass_dir/written.*"))
        self.assertEqual(done.returncode, 0, f"{done.stdout}\n{done.stderr}\n{texts}")
        for line in done.stdout.splitlines():
            self.assertIn("correct", line)
            self.assertNotIn(" 0 sites replaced", line, texts)
        return done.stdout.splitlines()

    def test_every_shipped_sample_gets_a_right_pass_for_all_its_operators(self):
        self.assertEqual(len(SAMPLES), 12)
        copies, count = [], 0
        for turn, sample in enumerate(each_nth(SAMPLES, 3)):
            dtypes = in_turn(["float32", "float16", "bfloat16"], turn)
            graphs = [path for path in sorted((sample / "graphs").iterdir()) if path.name.rpartition("_")[2] in dtypes]
            self.assertGreater(len(graphs), 0, sample.name)
            self.sample = self.root / sample.name
            for path in graphs:
                shutil.copytree(path, self.sample / "graphs" / path.name)
            self.assertNotIn("left out", self.new_pass(), sample.name)
            copies.append(self.sample)
            count += len(graphs)
        self.assertEqual(len(self.check(*copies)), count)

    def test_small_graphs_get_right_passes(self):
        samples = []
        for name, (body, inputs) in GRAPHS.items():
            self.sample = self.root / name.replace(" ", "_")
            self.write_graph("small", body, inputs)
            self.assertEqual(re.findall(r"left out: (\w+) = ", self.new_pass()), LEFT_OUT.get(name, []), name)
            samples.append(self.sample)
        self.assertEqual(len(self.check(*samples)), len(samples))

    def test_passes_of_a_graph_are_numbered(self):
        self.write_graph("small", "        tmp_0 = in_0.relu()\n        tmp_1 = torch.sort(tmp_0)\n        tmp_2 = tmp_1[0]\n"
                         "        tmp_3 = tmp_2 * 2\n        return (tmp_3,)", {"in_0": [3, 4]})
        printed = self.new_pass()
        self.assertEqual(json.loads((self.sample / "pass_dir" / LIST).read_text()), ["written", "written_2"])
        for name in ("written", "written_2"):
            self.assertIn(f"{name}: 1 operator as 1 kernel\n", printed)
        self.check()

    def test_nothing_is_overwritten(self):
        self.write_graph("small", "        tmp_0 = in_0.relu()\n        tmp_1 = torch.sort(tmp_0)\n        tmp_2 = tmp_1[0]\n"
                         "        tmp_3 = tmp_2 * 2\n        return (tmp_3,)", {"in_0": [3, 4]})
        (self.sample / "pass_dir").mkdir(exist_ok=True)
        kept = self.sample / "pass_dir" / "written_2.cpp"
        kept.write_text("// mine\n")
        done = self.passnet("pass", "new", "written", self.sample / "pass_dir", "--from", self.sample)
        self.assertEqual(done.returncode, 3)
        self.assertIn(f"'{kept}' exists; nothing was written", done.stderr)
        self.assertEqual([path.name for path in (self.sample / "pass_dir").iterdir()], ["written_2.cpp"])
        self.assertEqual(kept.read_text(), "// mine\n")

    def test_a_constant_that_differs_becomes_an_input(self):
        body = "        tmp_0 = in_0 * {0}\n        tmp_1 = tmp_0.view({1})\n        tmp_2 = tmp_1 + 1\n        return (tmp_2,)"
        self.write_graph("a", body.format(0.5, "2, 6"), {"in_0": [3, 4]})
        self.write_graph("b", body.format(0.25, "4, 5"), {"in_0": [2, 10]})
        printed = self.new_pass()
        self.assertIn("matches 2 of 2 graphs", printed)
        self.assertEqual(len(self.check()), 2)

    def test_an_operator_that_cannot_be_written_is_named_and_left_out(self):
        self.write_graph("small", "        tmp_0 = in_0.relu()\n        tmp_1 = tmp_0 * 2\n        tmp_2 = torch.sort(tmp_1)\n        tmp_3 = tmp_2[0]\n        return (tmp_3,)",
                         {"in_0": [3, 4]})
        printed = self.new_pass()
        self.assertIn("written: 2 operators as 1 kernel\n", printed)
        self.assertIn("left out: tmp_2 = torch.sort(tmp_1)\n  no kernel can be written for 'sort'\n", printed)
        self.check()

    def test_a_range_leaves_the_other_operators_out(self):
        self.write_graph("small", "        tmp_0 = in_0.relu()\n        tmp_1 = tmp_0 * 2\n        tmp_2 = tmp_1.exp()\n        return (tmp_2,)", {"in_0": [3, 4]})
        printed = self.new_pass("--range", "1:2")
        self.assertIn("written: 1 operator as 1 kernel\n", printed)
        self.assertIn("left out: tmp_0 = in_0.relu()\nleft out: tmp_2 = tmp_1.exp()\n  not in the range\n", printed)
        self.check()

    def test_a_graph_that_no_kernel_can_be_written_for_is_an_error(self):
        self.write_graph("small", "        tmp_0 = torch.sort(in_0)\n        tmp_1 = tmp_0[0]\n        return (tmp_1,)", {"in_0": [3, 4]})
        done = self.passnet("pass", "new", "written", self.sample / "pass_dir", "--from", self.sample)
        self.assertEqual(done.returncode, 3)
        self.assertIn(f"no kernel can be written for '{self.sample}'; nothing was written", done.stderr)
        self.assertIn("tmp_0 = torch.sort(in_0): no kernel can be written for 'sort'", done.stderr)
        self.assertFalse((self.sample / "pass_dir").exists())

    def test_a_range_past_the_end_is_an_error(self):
        self.write_graph("small", "        tmp_0 = in_0.relu()\n        return (tmp_0,)", {"in_0": [3, 4]})
        done = self.passnet("pass", "new", "written", self.sample / "pass_dir", "--from", self.sample, "--range", "0:2")
        self.assertEqual(done.returncode, 3)
        self.assertIn("range 0:2 of a graph of 1 operators", done.stderr)


if __name__ == "__main__":
    unittest.main()
