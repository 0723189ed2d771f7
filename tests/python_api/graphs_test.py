"""Captures modules, writes passes for them, and checks these."""

import unittest

import package
import torch
from torch import nn

import passnet


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm, self.up, self.down = nn.LayerNorm(32), nn.Linear(32, 64), nn.Linear(64, 32)
        self.scale = torch.full((32,), 0.5)  # neither parameter nor buffer

    def forward(self, x):
        return x + self.scale * self.down(nn.functional.gelu(self.up(self.norm(x))))


class Broken(nn.Module):
    def forward(self, x):
        print("a graph break")
        return x + 1


class Graphs(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        torch.manual_seed(1)
        cls.model, cls.x = Block().eval(), torch.randn(4, 32)
        cls.graph = passnet.capture(cls.model, (cls.x,))

    def test_a_module_becomes_a_graph_with_parameters_as_inputs(self):
        self.assertIn("torch.nn.functional.layer_norm", self.graph.text)
        self.assertEqual(self.graph.stats()["placeholders"], 8)
        self.assertRegex(repr(self.graph), r"^<passnet.Graph Block: \d+ statements, [0-9a-f]{12}>$")
        self.assertIn("<pre>import torch", self.graph._repr_html_())

    def test_weights_are_no_part_of_the_hash(self):
        other = Block().eval()
        self.assertEqual(passnet.capture(other, {"x": self.x}).hash, self.graph.hash)

    def test_a_graph_is_saved_and_loaded(self):
        out = package.new_directory(self) / "block"
        self.assertEqual(self.graph.save(out).hash, passnet.load(out).hash)
        with self.assertRaisesRegex(passnet.BadInput, "expected a new directory"):
            self.graph.save(out)

    def test_a_graph_break_is_told_with_its_reason(self):
        with self.assertRaisesRegex(passnet.Unsupported, "found a graph break, expected one graph"):
            passnet.capture(Broken(), (self.x,))

    def test_a_plan_that_is_no_json_is_refused(self):
        from passnet import _C

        with self.assertRaisesRegex(passnet.BadInput, "the plan is not understood: expected a JSON object"):
            _C.Graph(self.graph.text, "{")

    def test_a_plan_names_the_member_that_is_wrong(self):
        from passnet import _C

        for plan, message in (
            ('{"kernels": 7}', "kernels: expected an array, found number '7'"),
            ('{"kernels": [7]}', "kernels of a launch list: expected an array of objects, found number '7'"),
            ('{"kernels": [[{"entry": "f"}]]}', "kernel: field 'object' is missing, expected a string"),
        ):
            with self.assertRaisesRegex(passnet.BadInput, message):
                _C.Graph(self.graph.text, plan)

    def test_passes_of_a_sample_are_checked_on_a_graph(self):
        sample = package.SOURCE / "samples" / "gpt2_gelu"
        found = passnet.check(sample / "graphs" / "b1_s1_float32", sample / "pass_dir")
        self.assertEqual([(one["graph"], one["verdict"], one["sites"]) for one in found["graphs"]], [("graphs/b1_s1_float32", "correct", 1)])

    def test_passes_that_do_not_exist_are_named(self):
        with self.assertRaisesRegex(passnet.BadInput, "'/nowhere' is no directory, expected a pass_dir"):
            passnet.check(self.graph, "/nowhere")


if __name__ == "__main__":
    unittest.main(verbosity=2)
