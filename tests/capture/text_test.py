"""model.py, graph_hash.txt, weight_meta.py and constraints have the form that the format documents say."""

import hashlib
import math
import os
import pathlib
import sys
import types
import unittest

try:
    import torch
    from torch import fx
except ImportError:
    print("skipped: no PyTorch in", sys.executable)
    sys.exit(77)

sys.path.insert(0, str(pathlib.Path(os.environ["PASSNET_SOURCE_DIR"]) / "python"))
from passnet_capture.capture import FullGraph, capture
from passnet_capture.causes import CaptureFailure
from passnet_capture.constraints import constraints_text, find_symbols
from passnet_capture.graph_text import graph_hash, hash_text, model_text, with_arguments_for_constants
from passnet_capture.meta import Recorder, statistics, value_lines
from passnet_capture.plan import Shape
from passnet_capture.sources.transformers_inputs import make_slots


def argument(graph, name, type_expr=torch.Tensor):
    return graph.create_node("placeholder", f"L_{name}_", (), {}, name=f"l_{name}_", type_expr=type_expr)


class Hash(unittest.TestCase):
    """The two unit vectors of the format: text and hash of graphs in the public data set."""

    def test_class_token_of_an_encoder(self):
        graph = fx.Graph()
        hidden = argument(graph, "hidden")
        token = graph.create_node("call_function", __import__("operator").getitem, (hidden, (slice(None, None, None), 0)), name="cls_token")
        output = graph.create_node("call_function", torch.cat, ([token], 1), name="output_vector")
        graph.output((output,))
        self.assertEqual(hash_text(graph), "\n\n\ndef forward(self, v0 : torch.Tensor):\n    v1 = v0\n    cls_token = v1[(slice(None, None, None), 0)];"
                         "  v1 = None\n    output_vector = torch.cat([cls_token], 1);  cls_token = None\n    return (output_vector,)\n    ")  # fmt: skip
        self.assertEqual(graph_hash(graph), "f9c87dfbc5ee70a46fe63d6d14223dc1612b23868bdf876fddc6691bd7876355")

    def test_embedding_by_index(self):
        graph = fx.Graph()
        table, batch = argument(graph, "table", torch.nn.Parameter), argument(graph, "batch")
        argument(graph, "unused")
        graph.output((graph.create_node("call_function", __import__("operator").getitem, (table, batch), name="getitem"),))
        self.assertEqual(graph_hash(graph), "024bf75f08bc23e33ab6d4fc43c3df78d48896305faab15441dfeb2a1c22ca77")

    def test_public_names_are_hashed(self):
        full = capture(torch.nn.Linear(2, 2), {"input": torch.ones(1, 2)})
        self.assertIn("torch.nn.functional.linear(", hash_text(full.module.graph))
        self.assertEqual(graph_hash(full.module.graph), hashlib.sha256(hash_text(full.module.graph).encode()).hexdigest())


class InPlace(torch.nn.Module):
    def forward(self, x, y):
        x = x * 2
        x += y
        x[0] = 1.0
        z = torch.where(x > 0, x, float("-inf"))
        return torch.fft.irfft(z.to(torch.complex64)), torch.zeros(3, device=x.device), "; a = None"


class Model(unittest.TestCase):
    def test_statements_deletions_and_imports(self):
        full = capture(InPlace(), {"x": torch.ones(2, 4), "y": torch.ones(2, 4)})
        self.assertEqual(model_text(full.module.graph), """\
import torch
from torch import device
from torch import inf


class GraphModule(torch.nn.Module):
    def forward(
        self,
        L_x_: torch.Tensor,
        L_y_: torch.Tensor,
    ):
        l_x_ = L_x_
        l_y_ = L_y_
        x = l_x_ * 2
        l_x_ = None
        x += l_y_
        x_1 = x
        x = l_y_ = None
        x_1[0] = 1.0
        setitem = x_1
        setitem = None
        gt = x_1 > 0
        z = torch.where(gt, x_1, -inf)
        gt = x_1 = None
        to = z.to(torch.complex64)
        z = None
        fft_irfft = torch.fft.irfft(to)
        to = None
        zeros = torch.zeros(3, device=device(type='cpu'))
        return (fft_irfft, zeros)
""".replace("device=device", "device = device"))  # fmt: skip

    def test_foreign_function_is_refused_by_name(self):
        graph = fx.Graph()
        graph.output((graph.call_function(math.sqrt, (argument(graph, "x"),)),))
        with self.assertRaises(CaptureFailure) as caught:
            model_text(graph)
        self.assertEqual(caught.exception.cause, "unsupported")
        self.assertEqual(str(caught.exception), "found 'math_sqrt' in the graph, expected functions of torch only")

    def test_dtype_that_passnet_does_not_read_is_refused(self):
        graph = fx.Graph()
        graph.output((graph.call_method("to", (argument(graph, "x"), torch.float8_e4m3fn)),))
        with self.assertRaises(CaptureFailure) as caught:
            model_text(graph)
        self.assertEqual((caught.exception.cause, str(caught.exception)),
                         ("unsupported", "found 'torch.float8_e4m3fn' in the graph, a dtype that PassNet does not read"))
        with self.assertRaisesRegex(TypeError, "dtype torch.float8_e4m3fn"):
            value_lines(torch.zeros(3).to(torch.float8_e4m3fn))

    def test_tag_is_one_name_of_a_directory(self):
        tags = {"b1_r224": "b1_r224", "../../../../escaped": ".._.._.._.._escaped", "b2/../x": "b2_.._x", "..": "__", "": "_", "é": "_"}
        for given, kept in tags.items():
            self.assertEqual(Shape(given, 1, torch.nn.Identity(), dict).tag, kept)

    def test_constant_tensor_becomes_an_argument(self):
        graph, root = fx.Graph(), torch.nn.Module()
        root.register_buffer("table", torch.arange(3.0))
        x = argument(graph, "x")
        graph.output((graph.call_function(torch.add, (x, graph.get_attr("table"))),))
        full = with_arguments_for_constants(FullGraph(fx.GraphModule(root, graph), [torch.ones(3)]))
        self.assertIn("        L_self_constants_table_: torch.Tensor,\n", model_text(full.module.graph))
        self.assertTrue(torch.equal(full.inputs[1], torch.arange(3.0)))


class Meta(unittest.TestCase):
    def test_few_floats_are_literal_with_nine_digits(self):
        value = torch.tensor([0.1, float("inf"), float("-inf"), float("nan")])
        self.assertEqual(value_lines(value)[-1], "    data = [0.100000001, float('inf'), float('-inf'), float('nan')]")

    def test_literal_floats_give_the_same_bits_back(self):
        value = torch.randn(63)
        data = eval(value_lines(value)[-1].split(" = ")[1])
        self.assertTrue(torch.equal(torch.tensor(data), value))

    def test_statistics_have_full_precision(self):
        torch.manual_seed(0)
        value = torch.randn(3_000_000) * 1e-4 + 2e-5
        mean, std = statistics(value)
        self.assertAlmostEqual(mean, value.double().mean().item(), delta=1e-15)
        self.assertAlmostEqual(std, value.double().std().item(), delta=1e-12)
        self.assertEqual(value_lines(value), [f"    mean = {mean:.9g}", f"    std = {std:.9g}", "    data = None"])

    def test_masks_are_measured_as_replay_bounds_them(self):
        mask = torch.zeros(100)
        mask[:50] = float("-inf")
        self.assertEqual(statistics(mask)[0], -50.0)

    def test_integers_have_data_or_bounds(self):
        self.assertEqual(value_lines(torch.arange(3)), ["    mean = None", "    std = None", "    data = [0, 1, 2]"])
        self.assertEqual(value_lines(torch.arange(100)), ["    mean = None", "    std = None", "    max_val = 99", "    min_val = 0"])
        self.assertEqual(value_lines(torch.ones(100, dtype=torch.bool)), ["    mean = None", "    std = None", "    data = None"])

    def test_record_of_a_variance_and_of_a_size(self):
        self.assertEqual(Recorder().record("L_self_buffers_running_var_", torch.ones(2)), """\
class Program_weight_tensor_meta_L_self_buffers_running_var_:
    name = "L_self_buffers_running_var_"
    shape = [2]
    dtype = "torch.float32"
    device = "cpu"
    mean = 1
    std = 0
    data = [1, 1]
    min_val = 0
""")  # fmt: skip
        self.assertTrue(Recorder().record("s1", 17).endswith("    mean = None\n    std = None\n    data = [17]\n"))

    def test_assumed_statistics_are_those_of_an_initialiser(self):
        recorder = Recorder(assumed=True)
        weight, scale = torch.nn.Parameter(torch.ones(2, 2)), torch.nn.Parameter(torch.zeros(2))
        self.assertIn("    mean = 0\n    std = 0.02\n    data = None", recorder.record("L_fc_weight_", weight))
        self.assertIn("    mean = 1\n    std = 0\n    data = None", recorder.record("L_norm_weight_", scale))
        self.assertIn("    mean = 0\n    std = 0\n    data = None", recorder.record("L_norm_bias_", scale))


class Constraints(unittest.TestCase):
    def test_sizes_that_differ_and_the_batch_are_symbols(self):
        first = {"L_x_": [1, 3, 224, 224], "L_self_w_": [1, 224], "L_y_": [1, 7]}
        second = {"L_x_": [2, 3, 256, 256], "L_self_w_": [2, 256], "L_y_": [2, 7]}
        symbols = find_symbols([first, second], [1, 2])
        self.assertEqual(symbols, {("L_x_", 0): 0, ("L_x_", 2): 1, ("L_x_", 3): 1, ("L_y_", 0): 0})
        self.assertEqual(constraints_text(second, symbols), """\
from sympy import Symbol

S0 = Symbol("S0")
S1 = Symbol("S1")

dynamic_dim_constraint_symbols = [S0, S1]

dynamic_dim_constraint_symbol2example_value = {S0: 2, S1: 256}

dynamic_dim_constraint_relations = []

dynamic_dim_constraint_input_shapes = [
    ([2, 256], "L_self_w_"),
    ([S0, 3, S1, S1], "L_x_"),
    ([S0, 7], "L_y_"),
]
""")  # fmt: skip

    def test_one_shape_has_the_batch_as_symbol(self):
        self.assertEqual(find_symbols([{"L_x_": [4, 4]}], [4]), {("L_x_", 0): 0})

    def test_argument_of_one_shape_only_has_none(self):
        self.assertEqual(find_symbols([{"L_x_": [1]}, {"L_y_": [2]}], [1, 2]), {})


class Reduced(unittest.TestCase):
    """Configurations of transformers with two layers per stack."""

    def reduced(self, facts):
        from passnet_capture.sources.from_transformers import _reduce

        _reduce(facts, "", {})
        return facts

    def test_one_of_each_kind_of_layer_stays(self):
        facts = self.reduced({"num_hidden_layers": 3, "layer_types": ["full", "full", "sliding"]})
        self.assertEqual(facts, {"num_hidden_layers": 2, "layer_types": ["full", "sliding"]})

    def test_what_is_said_per_layer_is_cut_too(self):
        facts = self.reduced({"num_hidden_layers": 12, "intermediate_size": [64] * 12, "per_layer_config": {1: "a", 5: "b"}})
        self.assertEqual(facts, {"num_hidden_layers": 2, "intermediate_size": [64, 64], "per_layer_config": {1: "a"}})

    def test_stages_stay(self):
        facts = {"depth": [1, 2, 10], "hidden_sizes": [64, 192, 384], "num_layers": 3}
        self.assertEqual(self.reduced(dict(facts)), {**facts, "num_layers": 2})


class Arguments(unittest.TestCase):
    """Arguments of models of transformers, which is not imported."""

    def shapes(self, name):
        config = types.SimpleNamespace(vocab_size=50, get_text_config=lambda: config)
        forward = lambda self, input_ids, attention_mask: None  # noqa: E731
        model = type(name, (torch.nn.Module,), {"forward": forward, "main_input_name": "input_ids", "config": config})()
        shape = make_slots(model, 1)[0][0]
        return shape.tag, {argument: list(value.shape) for argument, value in shape.arguments().items()}

    def test_text_is_batch_by_tokens(self):
        self.assertEqual(self.shapes("ToyModel"), ("b1_s16", {"input_ids": [1, 16], "attention_mask": [1, 16]}))

    def test_multiple_choice_has_a_text_for_each_answer(self):
        self.assertEqual(self.shapes("ToyForMultipleChoice"), ("b1_s16", {"input_ids": [1, 2, 16], "attention_mask": [1, 2, 16]}))


if __name__ == "__main__":
    unittest.main()
