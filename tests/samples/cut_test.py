"""A captured model, cut by `passnet graph cut`: names follow the rules of the data set, values that flow in are those of a real run."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

try:
    import torch
except ImportError:
    print("skipped: no PyTorch in", sys.executable)
    sys.exit(77)

sys.path.insert(0, str(pathlib.Path(os.environ["PASSNET_SOURCE_DIR"]) / "python"))
from passnet_capture.capture import CaptureError, capture
from passnet_capture.samples import SampleSpec
from passnet_capture.write import CutError, write_sample

PASSNET = str(pathlib.Path(os.environ["PASSNET_BINARY_DIR"]) / "bin" / "passnet")


class Small(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = torch.nn.LayerNorm(4)
        self.register_buffer("steps", torch.arange(100))
        torch.manual_seed(0)
        torch.nn.init.normal_(self.norm.weight)

    def forward(self, x, mask):
        y = x * 2
        z = self.norm(y)
        z += mask
        return torch.nn.functional.gelu(z), y, self.steps + 1


class Breaking(torch.nn.Module):
    def forward(self, x):
        torch._dynamo.graph_break()
        return x + 1


def inputs():
    mask = torch.zeros(2, 4)
    mask[0, 0] = torch.finfo(torch.float32).min
    return {"x": torch.ones(2, 4) * torch.arange(4.0), "mask": mask}


class Cut(unittest.TestCase):
    def cut(self, ops, occurrence=1):
        """The files of the graph."""
        spec = SampleSpec("small", "torch", "Small", Small, {"b2": inputs}, ops, occurrence, ("float32",))
        with tempfile.TemporaryDirectory() as out:
            self.assertEqual(write_sample(spec, pathlib.Path(out), PASSNET), ["b2_float32"])
            return {path.name: path.read_text() for path in (pathlib.Path(out) / "small" / "graphs" / "b2_float32").iterdir()}

    def test_operators_that_are_not_there_are_an_error(self):
        with self.assertRaisesRegex(CutError, "^operators 'mul iadd': found 0 times, expected at least 1\n"):
            self.cut("mul iadd")

    def test_inputs_are_those_used_inside_and_outputs_those_used_after(self):
        # y is used inside and again after the range, but was there before it: an input and no output.
        self.assertEqual(
            self.cut("layer_norm iadd")["model.py"],
            "import torch\n\n\nclass GraphModule(torch.nn.Module):\n"
            "    def forward(self, in_0, w_0, w_1, in_1):\n"
            "        tmp_0 = torch.nn.functional.layer_norm(in_1, (4,), w_1, w_0, 1e-05)\n"
            "        in_1 = w_1 = w_0 = None\n"
            "        tmp_0 += in_0\n"
            "        tmp_1 = tmp_0\n"
            "        tmp_0 = in_0 = None\n"
            "        return (tmp_1,)\n",
        )

    def test_values_flowing_in_are_measured_on_a_real_run(self):
        # y holds 0, 2, 4, 6 twice; a replay of x would give other numbers.
        self.assertIn("    data = [0, 2, 4, 6, 0, 2, 4, 6]\n", self.cut("layer_norm iadd")["weight_meta.py"])

    def test_private_names_become_public_ones(self):
        text = self.cut("gelu")["model.py"]
        self.assertIn("torch.nn.functional.gelu(", text)
        self.assertNotIn("torch._C", text)

    def test_statistics_are_of_values_that_replay_can_make(self):
        self.assertIn("mean = -12.5\n", self.cut("iadd")["weight_meta.py"])  # one of eight elements is -100, not -3.4e38

    def test_large_integer_tensors_are_recorded_by_their_range(self):
        self.assertIn("    mean = None\n    std = None\n    max_val = 99\n    min_val = 0\n", self.cut("add")["weight_meta.py"])

    def test_a_graph_break_is_an_error(self):
        with self.assertRaisesRegex(CaptureError, "^Breaking: found a graph break, expected one graph: "):
            capture(Breaking(), {"x": torch.ones(2)})


if __name__ == "__main__":
    unittest.main()
