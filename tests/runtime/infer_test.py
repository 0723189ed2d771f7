"""Types without data against the types of a real call: every operator of operators_test.py, then whole graphs.

Quick tier: all operators, and each tenth whole graph in the order of their paths. Full tier: all of both.
The floating inputs have no data while types are inferred; those of integers and masks, which sizes may depend on, do.
"""
import os
import sys
import unittest

sys.path[:0] = [os.path.dirname(__file__), os.path.join(os.path.dirname(__file__), "..")]
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "fx"))
import corpus  # noqa: E402

corpus.need_torch()
import inferred  # noqa: E402
import operators_test as operators  # noqa: E402
import parity  # noqa: E402
import worker_client  # noqa: E402
from tiers import each_nth  # noqa: E402

# Their sizes depend on floating data, they check it, or their types depend on the device.
NEED_DATA = ("masked_select(", ".unique(dim", "item() + 1.0", "gaussian_nll_loss(", "torch.istft(", "_enter_autocast('cpu', torch.bfloat16")
MOST_ELEMENTS = 1e6  # of whole graphs: they are run, too


def records_of(inputs):
    """RECORD of each input; data for what is not floating."""
    records = []
    for name, (dtype, array) in inputs.items():
        values = {"mean": 0.0, "std": 1.0} if dtype == "float32" else {"int_data": [int(one) for one in array.reshape(-1)]}
        records.append({"class": f"M{name}", "name": name, "shape": list(array.shape), "dtype": dtype, "has_mean": True, "has_std": True, **values})
    return records


class InferTest(unittest.TestCase):
    def setUp(self):
        self.worker = worker_client.Worker(operators.BINARY, threads=2, timeout_s=300)
        self.addCleanup(self.worker.close)

    def trace(self, model, entries, fd, metas):
        """Inferred and real values of all nodes."""
        self.worker.ask("load", id="g", file="model.py", model=model)
        values = self.worker.ask("infer", id="g", **metas)[0]["values"]
        self.worker.ask("set_inputs", fds=[fd], id="g", tensors=entries)
        os.close(fd)
        real = self.worker.ask("trace", id="g")[0]["values"]
        self.worker.ask("unload", id="g")
        return values, real

    def assert_same_types(self, values, real):
        self.assertEqual(inferred.difference(values, real), "")

    def test_every_operator(self):
        inputs = operators.make_inputs()
        metas = {"weight_meta": records_of(inputs), "input_meta": []}
        count = 0
        for name, model in operators.graphs():
            if any(part in name for part in NEED_DATA):
                continue
            with self.subTest(name):
                entries, fd = worker_client.write_bundle(inputs)
                self.assert_same_types(*self.trace(model, entries, fd, metas))
            count += 1
        self.assertGreater(count, 400)

    def test_whole_graphs(self):
        directories = [path for path in corpus.graph_dirs("passbench", "graphnet")
                       if parity.input_sizes(path)[0] <= MOST_ELEMENTS]
        directories = each_nth(directories, 10)
        for path in directories:
            metas = {name: worker_client.records((path / f"{name}.py").read_text()) if (path / f"{name}.py").exists() else []
                     for name in ("weight_meta", "input_meta")}
            with self.subTest(path.name):
                model = (path / "model.py").read_text()
                self.worker.ask("load", id="g", file="model.py", model=model)
                reply, fds = self.worker.ask("inputs", id="g", seed=123, **metas)
                self.assert_same_types(*self.trace(model, reply["tensors"], fds[0], metas))
        print(f"{len(directories)} graphs compared", file=sys.stderr)

    def test_knows_what_cudnn_would_give(self):
        model = operators.module(["made = torch.cudnn_convolution(img, img, (1, 2), (2, 1), (1, 1), 1, benchmark=True, deterministic=False, allow_tf32=True)",
                                  "same = torch.conv2d(img, img, None, (2, 1), (1, 2), (1, 1), 1)", "return (made, same)"])
        self.worker.ask("load", id="g", file="model.py", model=model)
        values = self.worker.ask("infer", id="g", weight_meta=records_of(operators.make_inputs()), input_meta=[])[0]["values"]
        self.assertEqual(values["made"], values["same"])
        self.assertEqual(inferred.typed(values["made"]), ("float32", [2, 2, 2, 5]))

    def test_says_what_it_does_not_know(self):
        model = operators.module(["s = x.sum()", "n = s.item()", "z = n * y",
                                  "w = torch.zeros(n, 2)", "u = torch.nonzero(x)", "v2 = u + 1", "return (z, w, v2)"])
        self.worker.ask("load", id="g", file="model.py", model=model)
        values = self.worker.ask("infer", id="g", weight_meta=records_of(operators.make_inputs()), input_meta=[])[0]["values"]
        self.assertEqual(inferred.typed(values["z"]), ("float32", [2, 3, 4]))  # a number that is only computed with
        self.assertRegex(values["w"]["unknown"], r"depends on the data that 'item' in line \d+ reads")
        self.assertIn("gives a size that depends on data", values["u"]["unknown"])
        self.assertEqual(values["v2"], values["u"])


if __name__ == "__main__":
    unittest.main()
