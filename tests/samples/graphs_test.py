"""Every shipped sample is whole: its graphs load and run in PyTorch, its records and hashes agree, its passes exist."""

import ast
import hashlib
import importlib.util
import inspect
import json
import os
import pathlib
import sys
import unittest

try:
    import torch
except ImportError:
    print("skipped: no PyTorch in", sys.executable)
    sys.exit(77)

SAMPLES = pathlib.Path(os.environ["PASSNET_SOURCE_DIR"]) / "samples"
SAMPLE_DIRS = sorted(path.parent for path in SAMPLES.glob("*/graph_list.txt"))
GRAPHS = [sample / "graphs" / name for sample in SAMPLE_DIRS for name in (sample / "graph_list.txt").read_text().split()]
GRAPH_FILES = {"model.py", "weight_meta.py", "input_meta.py", "input_tensor_constraints.py", "graph_net.json", "graph_hash.txt"}


def load_module(path):
    spec = importlib.util.spec_from_file_location("model", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def load_records(path):
    """The classes of a meta file as dictionaries, in file order."""
    records = []
    for node in ast.parse(path.read_text()).body:
        fields = {item.targets[0].id: ast.literal_eval(item.value) for item in node.body}
        records.append({"class": node.name, **fields})
    return records


def make_tensor(record):
    dtype = getattr(torch, record["dtype"].removeprefix("torch."))
    if record.get("data") is not None:
        return torch.tensor(record["data"], dtype=dtype).reshape(record["shape"])
    if not dtype.is_floating_point:
        return torch.randint(record["min_val"], record["max_val"] + 1, record["shape"], dtype=dtype)
    values = torch.randn(record["shape"]) * record["std"] * 0.2 + record["mean"]
    return values.clamp(min=record.get("min_val")).to(dtype) if "min_val" in record else values.to(dtype)


class Graphs(unittest.TestCase):
    def test_there_are_at_least_eight_samples_at_three_dtypes_and_two_shapes(self):
        self.assertGreaterEqual(len(SAMPLE_DIRS), 8)
        for sample in SAMPLE_DIRS:
            facts = [json.loads((graph / "graph_net.json").read_text()) for graph in GRAPHS if graph.parts[-3] == sample.name]
            self.assertEqual({f["data_type"] for f in facts}, {"float32", "float16", "bfloat16"}, sample.name)
            self.assertGreaterEqual(len({str(f["input_shapes"]) for f in facts}), 2, sample.name)

    def test_lists_name_exactly_the_graphs_that_are_there(self):
        for sample in SAMPLE_DIRS:
            listed = (sample / "graph_list.txt").read_text().split()
            self.assertEqual(sorted(listed), sorted(path.name for path in (sample / "graphs").iterdir()), sample.name)
        for graph in GRAPHS:
            self.assertEqual({path.name for path in graph.iterdir()}, GRAPH_FILES, graph)

    def test_hashes_are_those_of_the_files(self):
        for graph in GRAPHS:
            with self.subTest(graph=str(graph)):
                found = hashlib.sha256((graph / "model.py").read_bytes()).hexdigest()
                self.assertEqual((graph / "graph_hash.txt").read_text(), found)

    def test_every_graph_runs_and_gives_finite_tensors(self):
        torch.manual_seed(0)
        for graph in GRAPHS:
            with self.subTest(graph=str(graph)):
                model = load_module(graph / "model.py").GraphModule()
                inputs = {record["name"]: make_tensor(record) for record in load_records(graph / "weight_meta.py")}
                self.assertEqual(list(inspect.signature(model.forward).parameters), list(inputs))
                with torch.no_grad():
                    outputs = model(**inputs)
                self.assertIsInstance(outputs, tuple)
                self.assertGreater(len(outputs), 0)
                for output in outputs:
                    self.assertGreater(output.numel(), 0)
                    self.assertTrue(bool(torch.isfinite(output).all()))

    def test_no_float_input_is_constant(self):
        for graph in GRAPHS:
            for record in load_records(graph / "weight_meta.py"):
                if record["mean"] is not None:
                    self.assertGreater(record["std"], 0, f"{graph}: {record['name']}")

    def test_passes_are_there(self):
        for sample in SAMPLE_DIRS:
            names = json.loads((sample / "pass_dir" / "sorted_output_pass_rule_names.json").read_text())
            self.assertGreater(len(names), 0, sample.name)
            self.assertTrue(os.access(sample / "entry.sh", os.X_OK), sample.name)
            expected = {"sorted_output_pass_rule_names.json"} | {f"{name}.{kind}" for name in names for kind in ("py", "cpp", "cu")}
            self.assertEqual({path.name for path in (sample / "pass_dir").iterdir()}, expected, sample.name)


if __name__ == "__main__":
    unittest.main()
