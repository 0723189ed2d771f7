"""A package of AOTInductor's in passnet-worker: what it returns and changes, and what is refused. Skipped where Python has no
PyTorch, or there is no g++."""

import importlib.util
import os
import pathlib
import shutil
import sys
import tempfile
import unittest

if importlib.util.find_spec("torch") is None or shutil.which("g++") is None:
    print("skipped: 6 tests, without PyTorch in Python and g++")
    sys.exit(77)

import numpy as np
import torch

SOURCE = pathlib.Path(os.environ["PASSNET_SOURCE_DIR"])
BINARY = os.path.join(os.environ["PASSNET_BINARY_DIR"], "bin/passnet-worker")
sys.path[:0] = [os.path.dirname(__file__), str(SOURCE / "python")]
import worker_client  # noqa: E402
from passnet_pytorch import package  # noqa: E402
from tiers import full_tier  # noqa: E402

MODEL = """import torch
import passnet

class GraphModule(torch.nn.Module):

    def forward(self, x, y):
        p = passnet.package(3, x, y)
        a = p[0]
        b = p[1]
        c = p[2]
        return (a, b, c, 3)
"""


class Program(torch.nn.Module):
    def forward(self, x, y):
        y += 1
        return x.relu() * y, x.t(), y, x.shape[0]


def types(*shapes, dtype="float32"):
    return [{"name": "", "dtype": dtype, "shape": list(shape)} for shape in shapes]


def contiguous(shape, dtype="float32"):
    return {"dtype": dtype, "shape": list(shape), "strides": [shape[1], 1]}


@full_tier
class Packages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        torch.set_num_threads(2)
        cls.directory = tempfile.TemporaryDirectory(prefix="passnet-package-")
        cls.addClassCleanup(cls.directory.cleanup)
        cls.path = os.path.join(cls.directory.name, "program.pt2")
        cls.told = package.write_package(Program(), types((3, 4), (3, 4)), torch.device("cpu"), cls.path)

    def setUp(self):
        self.x = np.linspace(-1, 1, 12, dtype=np.float32).reshape(3, 4)
        self.y = np.arange(12, dtype=np.float32).reshape(3, 4)

    def load(self, role="package", path=None, text=MODEL, **facts):
        worker = worker_client.Worker(BINARY, role)
        self.addCleanup(worker.close)
        told = {"path": path or self.path, "inputs": [contiguous((3, 4))] * 2, "outputs": 3, **facts}
        worker.ask("load", id="g", file="model.py", model=text, package=told)
        return worker

    def run_on(self, worker, x, y):
        entries, fd = worker_client.write_bundle({"x": (str(x.dtype), x), "y": (str(y.dtype), y)})
        worker.ask("set_inputs", fds=[fd], id="g", tensors=entries)
        os.close(fd)
        return worker.ask("run", id="g", checked=True)

    def refusal(self, function, *arguments, **facts):
        with self.assertRaises(worker_client.WorkerError) as caught:
            function(*arguments, **facts)
        return caught.exception.reply["kind"], caught.exception.reply["error"]

    def test_numbers_are_told_and_not_returned(self):
        self.assertEqual(self.told, [None, None, None, {"int": 3}])

    def test_a_call_returns_changes_and_shares_what_the_graph_does(self):
        worker = self.load()
        for _ in range(2):  # every call begins with the inputs as they were set
            reply, fds = self.run_on(worker, self.x, self.y)
            found = worker_client.read_bundle(reply["outputs"] + reply["inputs"], fds[0])
            np.testing.assert_array_equal(found["out_0"][1], np.maximum(self.x, 0) * (self.y + 1))
            np.testing.assert_array_equal(found["in_y"][1], self.y + 1)
            self.assertEqual(reply["scalars"], {"out_3": {"int": 3}})
            self.assertEqual([layout.get("shares") for layout in reply["layouts"]][:3], [None, "input x", "input y"])
            self.assertEqual(reply["layouts"][1]["strides"], [1, 4])

    def test_inputs_of_other_types_are_refused(self):
        worker = self.load()
        kind, message = self.refusal(self.run_on, worker, self.x[:, :2].copy(), self.y)
        self.assertEqual((kind, message), ("other-shapes", "argument 0 is float32[3, 2], the package was made for float32[3, 4]"))
        kind, message = self.refusal(self.run_on, worker, self.x, self.y.astype(np.int64))
        self.assertEqual((kind, message), ("other-shapes", "argument 1 is int64[3, 4], the package was made for float32[3, 4]"))
        self.run_on(worker, self.x, self.y)

    def test_what_does_not_fit_the_package_is_refused(self):
        self.assertIn("2 inputs are given, the package takes 1", self.refusal(self.load, inputs=[contiguous((3, 4))])[1])
        self.assertIn("3 values are wanted, the package gives 2", self.refusal(self.load, outputs=2)[1])
        self.assertIn("expected a tensor", self.refusal(self.load, text=MODEL.replace("x, y)\n        a", "x, 1)\n        a"))[1])
        worker = self.load(outputs=2, text=MODEL.replace("(3, x", "(2, x").replace("        c = p[2]\n", "").replace("b, c, 3", "b, 3"))
        self.assertIn("the package returned 3 values, expected 2", self.refusal(self.run_on, worker, self.x, self.y)[1])

    def test_a_file_that_is_no_package_is_refused(self):
        path = os.path.join(self.directory.name, "other.pt2")
        pathlib.Path(path).write_text("this is no package")
        for wrong in (path, os.path.join(self.directory.name, "absent.pt2")):
            kind, message = self.refusal(self.load, path=wrong)
            self.assertEqual(kind, "bad-input")
            self.assertIn(f"the package '{wrong}' does not load: ", message)

    def test_only_the_package_worker_loads_packages(self):
        for role in ("reference", "candidate"):
            self.assertEqual(self.refusal(self.load, role=role), ("bad-input", "only the package worker loads packages"))
        worker = worker_client.Worker(BINARY, "package")
        self.addCleanup(worker.close)
        without = self.refusal(worker.ask, "load", id="g", file="model.py", model=MODEL)[1]
        self.assertIn("the graph came without a package", without)


if __name__ == "__main__":
    unittest.main()
