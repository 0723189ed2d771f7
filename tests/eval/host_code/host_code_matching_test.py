"""How a candidate in Python records graphs and patterns, finds the places, and replaces them. Skipped without PyTorch."""

import importlib.util
import operator
import os
import pathlib
import sys
import textwrap
import types
import unittest

if importlib.util.find_spec("torch") is None:
    sys.exit(77)
sys.path.insert(0, str(pathlib.Path(os.environ["PASSNET_SOURCE_DIR"]) / "python"))

import torch  # noqa: E402
import torch.nn.functional as F  # noqa: E402
from passnet_candidate import calls, recorder, rewrite  # noqa: E402
from passnet_candidate.errors import GraphError, PassError  # noqa: E402
from passnet_candidate.passes import Rule  # noqa: E402


def model(body, inputs="x, y"):
    head = f"import torch\nfrom torch import device\nclass GraphModule(torch.nn.Module):\n  def forward(self, {inputs}):\n"
    return head + textwrap.indent(textwrap.dedent(body).strip(), "    ")


def rule(pattern, replacement, arguments=lambda *inputs: inputs):
    functions = {"pattern": pattern, "replacement_args": arguments, "replacement_func": lambda: replacement}
    return Rule("P", types.SimpleNamespace(**functions))


def targets(text):
    graph, _ = recorder.record_model(text, "model.py")
    return [node.target for node in graph.nodes if node.op in ("call_function", "call_method")]


class Recording(unittest.TestCase):
    def test_operators_without_tensors_and_changes_in_place(self):
        found = targets(model("""
            a = torch.arange(4, device=device(type='cuda', index=0))
            x += a
            b = x
            b[0] = y
            return (b,)"""))
        self.assertEqual(found, [torch.arange, operator.iadd, operator.setitem])

    def test_functions_that_nobody_may_intercept(self):
        self.assertEqual(targets(model("n = x.item()\n_check = torch._check(n)\nreturn (n,)")), ["item", torch._check])

    def test_what_cannot_be_recorded_is_said(self):
        with self.assertRaisesRegex(GraphError, "torch.fx cannot record the graph"):
            targets(model("if x.sum() > 0:\n  return (x,)\nreturn (y,)"))


class Matching(unittest.TestCase):
    def apply(self, text, *rules):
        return calls.LoadedGraph(text, "model.py", list(rules), torch.device("cpu"))

    def call(self, graph, *inputs):
        with torch.no_grad():
            return graph.call(*inputs)

    def test_all_places_are_replaced(self):
        graph = self.apply(model("a = torch.relu(x)\nb = torch.relu(y)\nc = torch.relu(a + b)\nreturn (c,)"),
                           rule(lambda x: torch.relu(x), lambda x: x * 10))
        self.assertEqual(graph.outcomes[0], {"pass": "P", "matches": 3, "diagnosis": ""})
        self.assertEqual(self.call(graph, torch.tensor(1.0), torch.tensor(2.0))[0], 300)

    def test_places_that_follow_each_other(self):
        graph = self.apply(model("a = x + y\nb = a + y\nreturn (b,)"), rule(lambda x, y: x + y, lambda x, y: x - y))
        self.assertEqual((graph.outcomes[0]["matches"], self.call(graph, torch.tensor(5.0), torch.tensor(1.0))[0]), (2, 3))

    def test_keywords_and_defaults_make_no_difference(self):
        for spelled in (lambda x: F.softmax(x, dim=-1), lambda x: F.softmax(x, -1), lambda x: F.softmax(input=x, dim=-1, dtype=None)):
            graph = self.apply(model("a = torch.nn.functional.softmax(x, dim=-1, _stacklevel=5)\nreturn (a,)"), rule(spelled, lambda x: x))
            self.assertEqual(graph.outcomes[0]["matches"], 1)
        padded = self.apply(model("a = torch.nn.functional.pad(x, (0, 1))\nreturn (a,)"),
                            rule(lambda x: torch._C._nn.pad(x, (0, 1), "constant", None), lambda x: x))
        self.assertEqual(padded.outcomes[0]["matches"], 1)

    def test_letters_count_otherwise(self):
        graph = self.apply(model("return (x.relu(),)"), rule(lambda x: torch.relu(x), lambda x: x))
        self.assertEqual(graph.outcomes[0]["diagnosis"], "no match: the graph calls no 'torch.relu'")

    def test_constants_are_given_as_they_stand(self):
        graph = self.apply(model("return (x * 3,)"), rule(lambda x, n: x * n, lambda x, n, route: x + n if route == "r" else x,
                                                          lambda x, n: (x, n, "r")))
        self.assertEqual(self.call(graph, torch.tensor(1.0), None)[0], 4)

    def test_several_results(self):
        def pattern(x, y):
            total = x + y
            return total, torch.relu(total)

        graph = self.apply(model("t = x + y\nr = torch.relu(t)\nreturn (t * 2, r)"), rule(pattern, lambda x, y: (x, y)))
        self.assertEqual(self.call(graph, torch.tensor(1.0), torch.tensor(2.0)), (2, 2))

    def test_a_place_that_is_used_before_its_last_input_is_made(self):
        def pattern(x, y):
            return torch.relu(x), torch.relu(y)

        graph = self.apply(model("a = torch.relu(x)\nb = a + 1\nc = y * 2\nd = torch.relu(c)\nreturn (b, d)"),
                           rule(pattern, lambda x, y: (x + 10, y + 10)))
        self.assertEqual(self.call(graph, torch.tensor(1.0), torch.tensor(2.0)), (12, 14))

    def test_patterns_built_node_by_node(self):
        built = torch.fx.Graph()
        built.output(built.call_function(F.relu, (built.placeholder("x"),), {"inplace": False}))
        pattern = torch.fx.GraphModule(torch.nn.Module(), built)
        graph = self.apply(model("return (torch.nn.functional.relu(x),)"), rule(pattern, lambda x: x + 1))
        self.assertEqual(self.call(graph, torch.tensor(1.0), None)[0], 2)

    def test_devices_are_those_of_the_run(self):
        graph = self.apply(model("a = torch.zeros(2, device=device(type='cuda', index=0))\nreturn (a,)"))
        self.assertEqual(self.call(graph, None, None)[0].device.type, "cpu")

    def test_wrong_replacements_are_named(self):
        for replacement, text in ((lambda x: (x, x), "returns 1 values, the replacement 2"), (lambda x: NotImplemented, "declines the site")):
            graph = self.apply(model("return (torch.relu(x),)"), rule(lambda x: torch.relu(x), replacement))
            with self.assertRaisesRegex(PassError, text):
                self.call(graph, torch.tensor(1.0), None)

    def test_patterns_that_cannot_be_matched(self):
        def pattern(x, y):
            x += y
            return y

        with self.assertRaisesRegex(PassError, "torch.fx cannot match the pattern"):
            self.apply(model("return (x + y,)"), rule(pattern, lambda x, y: y))


if __name__ == "__main__":
    unittest.main()
