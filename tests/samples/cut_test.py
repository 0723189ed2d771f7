"""Cutting and renaming follow the rules of the data set, on a small graph where every case can be seen."""

import os
import pathlib
import sys
import unittest

try:
    import torch
except ImportError:
    print("skipped: no PyTorch in", sys.executable)
    sys.exit(77)

sys.path.insert(0, str(pathlib.Path(os.environ["PASSNET_SOURCE_DIR"]) / "python"))
from passnet_capture.capture import CaptureError, capture
from passnet_capture.cut import CutError, cut, find_range, op_name
from passnet_capture.emit import emit


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


def small():
    mask = torch.zeros(2, 4)
    mask[0, 0] = torch.finfo(torch.float32).min
    return capture(Small().eval(), {"x": torch.ones(2, 4) * torch.arange(4.0), "mask": mask})


class Cut(unittest.TestCase):
    def test_body_nodes_have_the_names_of_the_data_set(self):
        self.assertEqual([op_name(node) for node in small().body()], ["mul", "layer_norm", "iadd", "gelu", "add"])

    def test_range_is_found_by_its_operators(self):
        self.assertEqual(find_range(small(), ["layer_norm", "iadd"]), (1, 3))
        with self.assertRaisesRegex(CutError, "^operators mul iadd: found 0 times, expected at least 1$"):
            find_range(small(), ["mul", "iadd"])

    def test_inputs_are_those_used_inside_and_outputs_those_used_after(self):
        # y is used inside and again after the range, but was there before it: an input and no output.
        text = emit(cut(small(), 1, 3)).model
        self.assertEqual(
            text,
            "import torch\n\nclass GraphModule(torch.nn.Module):\n\n"
            "    def forward(self, in_0, w_0, w_1, in_1):\n"
            "        tmp_0 = torch.nn.functional.layer_norm(in_1, (4,), w_1, w_0, 1e-05)\n"
            "        tmp_0 += in_0\n"
            "        tmp_1 = tmp_0\n"
            "        tmp_0 = None\n"
            "        return (tmp_1,)\n",
        )

    def test_values_flowing_in_are_measured_on_a_real_run(self):
        inputs = cut(small(), 1, 3).inputs
        y = next(value for name, value in inputs.items() if name == "y")
        self.assertTrue(torch.equal(y, torch.ones(2, 4) * torch.arange(4.0) * 2))

    def test_private_names_become_public_ones(self):
        text = emit(cut(small(), 3, 4)).model
        self.assertIn("torch.nn.functional.gelu(", text)
        self.assertNotIn("torch._C", text)

    def test_statistics_are_of_values_that_replay_can_make(self):
        meta = emit(cut(small(), 2, 3)).weight_meta
        self.assertIn("mean = -12.5\n", meta)  # one of eight elements is -100, not -3.4e38

    def test_large_integer_tensors_are_recorded_by_their_range(self):
        meta = emit(cut(small(), 4, 5)).weight_meta
        self.assertIn("    mean = None\n    std = None\n    max_val = 99\n    min_val = 0\n", meta)

    def test_a_graph_break_is_an_error(self):
        with self.assertRaisesRegex(CaptureError, "^Breaking: found a graph break, expected one graph: "):
            capture(Breaking(), {"x": torch.ones(2)})


if __name__ == "__main__":
    unittest.main()
