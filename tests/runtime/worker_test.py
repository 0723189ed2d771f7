"""passnet-worker over its socket: every request, and what it says to peers and graphs that are wrong.

Quick tier: all cases; what only happens now and then is tried twice in place of eight times.
"""
import ctypes
import json
import os
import pathlib
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time
import unittest

import numpy as np

sys.path[:0] = [os.path.dirname(__file__), os.path.join(os.path.dirname(__file__), "..")]
import worker_client  # noqa: E402
from tiers import FULL  # noqa: E402

SOURCE = pathlib.Path(os.environ.get("PASSNET_SOURCE_DIR", "."))
BINARY = os.path.join(os.environ.get("PASSNET_BINARY_DIR", "build"), "bin/passnet-worker")

MODEL = """import torch

class GraphModule(torch.nn.Module):

    def forward(self, x, y):
{body}
"""


def model(*lines):
    return MODEL.format(body="\n".join("        " + line for line in lines))


def fused_model(*lines):
    return "import passnet\n" + model("t = passnet.fused(0, x, y)", "z = t[0]", *lines)


FUSED = fused_model("return (z,)")
KERNEL = """#include <passnet/abi.h>
extern "C" const char* passnet_parameters_f() { return "const float*,const float*,float*,int64_t"; }
extern "C" void passnet_run_f(const passnet_launch* launch, int64_t first, int64_t last) {
  float* x = (float*)launch->args[0].pointer;
  float* y = (float*)launch->args[1].pointer;
  float* out = (float*)launch->args[2].pointer;
  int64_t n = launch->args[3].integer;
  for (int64_t task = first; task < last; ++task) { BODY }
  (void)x; (void)y; (void)out; (void)n;
}
"""


def tensor_json(shape):
    strides = [int(np.prod(shape[i + 1:], dtype=np.int64)) for i in range(len(shape))]
    return {"dtype": "float32", "shape": list(shape), "strides": strides}


def anonymous_mib(worker):
    with open(f"/proc/{worker.process.pid}/status") as file:
        return next(int(line.split()[1]) // 1024 for line in file if line.startswith("RssAnon:"))


class SharedWorker(worker_client.Worker):
    """A worker for one test after the other, each of which finds no graphs."""

    of_role = {}

    def __init__(self, role):
        super().__init__(BINARY, role)
        self.loaded = set()

    @classmethod
    def of(cls, role):
        if role not in cls.of_role:
            cls.of_role[role] = cls(role)
            unittest.addModuleCleanup(cls.of_role[role].close)
        worker = cls.of_role[role]
        for graph in list(worker.loaded):
            worker.ask("unload", id=graph)
        return worker

    def ask(self, do, fds=(), **fields):
        got = super().ask(do, fds, **fields)
        if do == "load":
            self.loaded.add(fields["id"])
        elif do == "unload":
            self.loaded.discard(fields["id"])
        return got


def own_worker(test):
    """Marks a test that ends or crashes its worker, or looks at all that it holds: no other test uses the worker."""
    test.own_worker = True
    return test


class WorkerCase(unittest.TestCase):
    role = "reference"

    def setUp(self):
        if hasattr(getattr(self, self._testMethodName), "own_worker"):
            self.worker = worker_client.Worker(BINARY, self.role)
            self.addCleanup(self.worker.close)
        else:
            self.worker = SharedWorker.of(self.role)

    def load(self, text, **more):
        return self.worker.ask("load", id="g", file="model.py", model=text, **more)[0]

    def set_inputs(self, **arrays):
        entries, fd = worker_client.write_bundle({name: (str(array.dtype), array) for name, array in arrays.items()})
        self.worker.ask("set_inputs", fds=[fd], id="g", tensors=entries)
        os.close(fd)

    def run_graph(self, checked=False):
        reply, fds = self.worker.ask("run", id="g", checked=checked)
        return {name: array for name, (_, array) in worker_client.read_bundle(reply["outputs"], fds[0]).items()}, reply["scalars"]

    def refusal(self, do, fds=(), **fields):
        with self.assertRaises(worker_client.WorkerError) as caught:
            self.worker.ask(do, fds, **fields)
        return caught.exception.kind, str(caught.exception)


class ReferenceTest(WorkerCase):
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    y = np.full((2, 3), 2, np.float32)

    def ready(self, *lines):
        self.load(model(*lines))
        self.set_inputs(x=self.x, y=self.y)

    def test_says_who_it_is(self):
        reply, _ = self.worker.ask("hello")
        self.assertEqual(reply["threads"], 2)
        self.assertRegex(reply["torch"], r"^2\.\d+")

    def test_runs_and_gives_tensors_and_scalars(self):
        self.ready("z = x + y", "n = x.size(1)", "return (z, n)")
        tensors, scalars = self.run_graph()
        np.testing.assert_array_equal(tensors["out_0"], self.x + 2)
        self.assertEqual(scalars, {"out_1": {"int": 3}})

    def test_experts_take_the_rows_up_to_their_ends(self):
        call = "torch.ops.transformers.grouped_mm_fallback(x.t(), torch.stack([x, x + y]), {})"
        self.ready("ends = torch.tensor([1, 3])", f"z = {call.format('ends')}", "return (z,)")
        rows = self.x.T
        expected = np.concatenate([rows[:1] @ self.x, rows[1:] @ (self.x + 2)])
        np.testing.assert_allclose(self.run_graph()[0]["out_0"], expected, rtol=1e-6)
        self.ready("ends = torch.tensor([1, 9])", f"z = {call.format('ends')}", "return (z,)")
        with self.assertRaisesRegex(worker_client.WorkerError, "group 1 ends at row 9, expected one from 1 to 3"):
            self.run_graph()

    def test_inputs_changed_in_place_are_restored_before_each_call(self):
        self.ready("x += y", "z = x", "return (z,)")
        for _ in range(3):
            np.testing.assert_array_equal(self.run_graph()[0]["out_0"], self.x + 2)
        reply, _ = self.worker.ask("time", id="g", calls=4, fingerprint=True)
        self.assertEqual(len(reply["times_us"]), 4)
        self.assertEqual(reply["changed"], 0)
        self.assertEqual(self.worker.ask("time", id="g", calls=2, fingerprint=True, together=3)[0]["changed"], 0)
        self.assertEqual(self.refusal("time", id="g", calls=1, together=0), ("bad-input", "0 calls together: expected at least 1"))

    def test_clocks_are_read_over_calls_as_they_were_set(self):
        self.ready("x += y", "z = x", "return (z,)")
        np.testing.assert_array_equal(self.run_graph()[0]["out_0"], self.x + 2)
        reply, _ = self.worker.ask("read_clocks", id="g", calls=5)
        self.assertGreater(reply["calls_us"], 0)
        self.assertNotIn("device_us", reply)  # the CPU has no clock of its own
        np.testing.assert_array_equal(self.run_graph()[0]["out_0"], self.x + 2)
        self.assertEqual(self.refusal("read_clocks", id="g", calls=-1), ("bad-input", "-1 calls: expected 0 to 1000000"))

    def test_refuses_what_a_request_cannot_hold(self):
        self.ready("z = x + y", "return (z,)")
        for do, fields, why in (
            ("run", {"share": "x"}, "share 'x': expected all, some or none"),
            ("time", {"calls": 1, "clock": "sun"}, "clock 'sun': expected host or device"),
            ("time", {}, "time: field 'calls' is missing, expected an integer"),
            ("profile", {"calls": 0}, "0 calls: expected 1 to 10000"),
        ):
            self.assertEqual(self.refusal(do, id="g", **fields), ("bad-input", why))
        with open(os.devnull) as file:
            self.assertEqual(self.refusal("run", [file.fileno()], id="g"),
                             ("bad-input", "a descriptor came with the request, expected 'room_bytes' with it"))  # fmt: skip

    def test_a_machine_is_calibrated_at_several_sizes(self):
        reply = self.worker.ask("calibrate")[0]
        copies = reply["copies"]
        self.assertGreaterEqual(len(copies), 4)
        self.assertEqual([copy["bytes"] for copy in copies], sorted({copy["bytes"] for copy in copies}))
        self.assertGreater(min(copy["gb_per_s"] for copy in copies), 0)
        products = {product["dtype"]: product["gflop_per_s"] for product in reply["products"]}
        self.assertEqual(list(products), ["float64", "float32", "bfloat16", "float16"])
        self.assertGreater(min(products.values()), 0)

    def test_random_operators_agree_between_calls_and_workers(self):
        self.ready("z = torch.nn.functional.dropout(x, 0.5, True)", "return (z,)")
        first = self.run_graph()[0]["out_0"]
        np.testing.assert_array_equal(self.run_graph()[0]["out_0"], first)
        self.assertEqual(self.worker.ask("time", id="g", calls=3, fingerprint=True)[0]["changed"], 0)

    def test_compares_with_the_outputs_of_its_last_run(self):
        self.ready("z = x + y", "w = x > y", "return (z, w)")
        found, _ = self.run_graph()
        found["out_0"][1, 2] += 1e-4

        def compare(tensors):
            entries, fd = worker_client.write_bundle({name: (str(array.dtype), array) for name, array in tensors.items()})
            reply, _ = self.worker.ask("compare", fds=[fd], id="g", tensors=entries)
            os.close(fd)
            return reply["outputs"]

        close, exact = compare(found)
        self.assertFalse(close["equal"])
        self.assertEqual(close["passes_from"], -5 if 1e-4 <= 1e-5 + 1.3e-6 * 7 else -4)
        self.assertAlmostEqual(close["max_abs_diff"], 1e-4, delta=1e-6)
        mismatch = close["mismatch"]
        self.assertEqual((mismatch["beyond"], mismatch["different"], mismatch["first"]), (1, 1, [1, 2]))
        self.assertEqual(mismatch["where"], "row 1 of 2 (the last), column 2 of 3 (the last)")
        self.assertAlmostEqual(float(mismatch["found"]) - float(mismatch["expected"]), 1e-4, delta=1e-5)
        self.assertEqual([mismatch[key] for key in ("expected_nan", "found_nan", "expected_inf", "found_inf")], [0, 0, 0, 0])
        self.assertTrue(exact["equal"])
        self.assertNotIn("mismatch", exact)
        self.assertEqual(exact["passes_from"], -10)
        wrong_shape = compare({"out_0": found["out_0"][:1], "out_1": found["out_1"]})[0]
        self.assertEqual(wrong_shape["passes_from"], 6)
        self.assertEqual(wrong_shape["found_shape"], [1, 3])
        missing = compare({"out_0": found["out_0"]})[1]
        self.assertEqual((missing["found_dtype"], missing["passes_from"]), ("", 6))
        found["out_0"][0, 0] = np.nan
        found["out_0"][0, 1] = np.inf
        bad = compare(found)[0]
        self.assertEqual(bad["passes_from"], 6)
        self.assertEqual((bad["mismatch"]["found_nan"], bad["mismatch"]["found_inf"], bad["mismatch"]["found"]), (1, 1, "nan"))
        found["out_0"][:] = found["out_0"][:] * 0 + 1e-30
        flipped = {**found, "out_1": ~found["out_1"]}
        self.assertEqual((compare(flipped)[1]["mismatch"]["where"], compare(flipped)[1]["mismatch"]["different"]), ("everywhere", 6))

    def test_a_room_for_outputs_is_on_a_gpu_alone(self):
        self.ready("z = x + y", "return (z,)")
        self.assertEqual(self.refusal("make_room", id="g"), ("bad-input", "there was no run (send 'run' first)"))
        self.run_graph()
        reply, fds = self.worker.ask("make_room", id="g")
        self.assertEqual((reply["room_bytes"], fds), (0, []))
        there = [{"name": "out_0", "dtype": "float32", "shape": [2, 3], "offset": 0}]
        self.assertEqual(self.refusal("compare", id="g", tensors=there, in_room=True), ("bad-input", "24 bytes in a room of 0 on the device"))
        past = [{**there[0], "offset": 2**62}, {**there[0], "name": "out_1", "offset": -4}]
        self.assertEqual(self.refusal("judge", id="g", profile="recorded", tensors=past, in_room=True)[0], "bad-input")
        self.assertEqual(self.refusal("compare", id="g", tensors=there)[1], "0 descriptors came with the request, expected 1")

    def judge(self, found, profile="recorded", float64="g64"):
        entries, fd = worker_client.write_bundle({name: (str(array.dtype), array) for name, array in found.items()})
        reply, _ = self.worker.ask("judge", fds=[fd], id="g", float64=float64, profile=profile, tensors=entries, scalars={})
        os.close(fd)
        return reply

    @staticmethod
    def kept(budget):
        return all(budget["found"][key] <= budget["allowed"][key] for key in budget["allowed"])

    def test_judges_rows_of_a_large_value_on_a_profile(self):
        shape = (6000, 1000)  # more than the 2^22 elements that are looked at
        self.x, self.y = (np.random.default_rng(seed).normal(0, 1, shape).astype(np.float32) for seed in (1, 2))
        body = ("z = x + y", "n = x > y", "return (z, n)")
        self.ready(*body)
        self.worker.ask("load", id="g64", file="model.py", model=model(*body))
        right, _ = self.run_graph()
        nearly = right | {"out_0": right["out_0"] * np.float32(1.001)}
        other = right | {"out_1": ~right["out_1"]}
        for profile in ("recorded", "normal"):
            first, second = self.judge(right, profile)["outputs"]
            self.assertTrue(self.kept(first["budget"]), first)
            self.assertFalse(second["differs"])
            self.assertFalse(self.kept(self.judge(nearly, profile)["outputs"][0]["budget"]))
            self.assertTrue(self.judge(other, profile)["outputs"][1]["differs"])
            shorter = right | {"out_0": right["out_0"][:10]}
            self.assertTrue(self.judge(shorter, profile)["outputs"][0]["differs"])

    @own_worker
    def test_judges_against_float64(self):
        self.x = np.random.default_rng(3).normal(0, 1, (32, 100)).astype(np.float32)
        self.y = np.ones((32, 100), np.float32)
        body = ("z = x.softmax(-1)", "m = z * 1e-6", "n = x > y", "return (m, n)")
        self.ready(*body)
        self.worker.ask("load", id="g64", file="model.py", model=model(*body))
        right, _ = self.run_graph()
        told = self.judge(right)
        self.assertEqual((told["no_float64"], [one["name"] for one in told["outputs"]]), ("", ["output 0", "output 1"]))
        self.assertTrue(self.kept(told["outputs"][0]["budget"]))
        self.assertLess(told["outputs"][0]["budget"]["eager"]["norm"], 1e-6)
        self.assertFalse(told["outputs"][1]["differs"])
        self.assertEqual(told["null_models"], ["earlier outputs"], "there are none yet")
        zeros = self.judge({**right, "out_0": np.zeros_like(right["out_0"])})["outputs"][0]["budget"]
        self.assertFalse(self.kept(zeros))
        self.assertEqual(zeros["found"]["norm"], 1)
        half = self.judge({**right, "out_0": (right["out_0"] * 1e6).astype(np.float16).astype(np.float32) / np.float32(1e6)})
        self.assertFalse(self.kept(half["outputs"][0]["budget"]))
        self.assertTrue(self.judge({**right, "out_1": ~right["out_1"]})["outputs"][1]["differs"])
        self.assertTrue(self.kept(self.judge(right, float64="")["outputs"][0]["budget"]))

    @own_worker
    def test_names_the_answers_that_would_pass_without_work(self):
        several, self.y = np.arange(1, 7, dtype=np.float32).reshape(2, 3) / 10, np.full((2, 3), 0.123, np.float32)
        for body, x, expected in (("x * 1", several * 0, ["zeros", "mean", "copy of an input", "earlier outputs"]),
                                  ("x.reshape(3, 2)", several, ["copy of an input", "earlier outputs"]),
                                  ("torch.arange(6.0)", several, ["earlier outputs"]),
                                  ("x + y", several, ["earlier outputs"])):
            self.x = x
            self.ready(f"z = {body}", "return (z,)")
            with self.subTest(body):
                # Nothing is earlier than the recorded values: the next profile tells.
                self.assertEqual(self.judge(self.run_graph()[0], float64="")["null_models"], expected)
        self.x = self.x * 3
        self.set_inputs(x=self.x, y=self.y)
        self.assertEqual(self.judge(self.run_graph()[0], "normal", float64="")["null_models"], [])

    def test_tells_why_there_is_no_float64(self):
        self.ready("z = torch.nn.functional.dropout(x, 0.5, True)", "return (z,)")
        self.worker.ask("load", id="g64", file="model.py", model=model("z = torch.rand(2, 3) * x", "return (z,)"))
        self.assertEqual(self.judge(self.run_graph()[0])["no_float64"], "output 0 is another at float64")

    def test_allows_what_loses_no_more_than_eager_where_a_rounding_decides(self):
        random = np.random.default_rng(4)
        # Three values of float16, 0.5 apart, are most of a row, and a norm makes much of which of them it is.
        self.x = random.normal(1000, 1.1, (64, 100)).astype(np.float32)
        self.y = np.ones(1, np.float32)
        norm = "z = torch.nn.functional.layer_norm({}, (100,), None, None, 1e-05)"
        self.ready("h = x.to(torch.float16)", norm.format("h"), "return (z,)")
        self.worker.ask("load", id="g64", file="model.py", model=model(norm.format("x"), "return (z,)"))
        right, _ = self.run_graph()

        def normed(rows):
            rows = rows.astype(np.float64)
            return {"out_0": ((rows - rows.mean(-1, keepdims=True)) / rows.std(-1, keepdims=True)).astype(np.float16)}

        held = self.x.astype(np.float16)
        near_a_tie = np.abs(np.abs(self.x - held) - 0.25) < 0.01
        self.assertGreater(near_a_tie.sum(), 50)
        otherwise = np.where(near_a_tie, np.where(self.x > held, held + np.float16(0.5), held - np.float16(0.5)), held)
        judged = self.judge(normed(otherwise), "shifted")["outputs"][0]["budget"]
        self.assertTrue(self.kept(judged), judged)
        self.assertGreater(judged["eager"]["norm"], 1 / 16)
        self.assertTrue(self.kept(self.judge(right, "shifted")["outputs"][0]["budget"]))
        for wrong in (normed(np.round(self.x)), {"out_0": right["out_0"] * np.float16(1.2)},
                      {"out_0": np.where(np.arange(64)[:, None] < 60, right["out_0"], right["out_0"][::-1])}):
            self.assertFalse(self.kept(self.judge(wrong, "shifted")["outputs"][0]["budget"]))
        self.assertFalse(self.kept(self.judge(normed(otherwise), "recorded")["outputs"][0]["budget"]))

    def test_draws_profiles_of_values(self):
        metas = [{"class": "Program_weight_tensor_meta_" + name, "name": name, "shape": [64, 64], "dtype": dtype, "mean": 0.0, "std": std,
                  "has_mean": True, "has_std": True, **more}
                 for name, dtype, std, more in (("x", "float32", 1.0, {}), ("y", "float32", 0.5, {"min_val": 0.0, "max_val": 2.0}))]
        self.load(model("z = x + y", "return (z,)"))

        def drawn(profile, seed=5):
            reply, fds = self.worker.ask("inputs", id="g", weight_meta=metas, input_meta=[], seed=seed, profile=profile)
            return {name: array for name, (_, array) in worker_client.read_bundle(reply["tensors"], fds[0]).items()}

        self.assertAlmostEqual(drawn("shifted")["x"].mean(), 4, delta=0.2)
        self.assertEqual(set(np.unique(drawn("binary")["x"])), {0, 1})
        self.assertEqual(set(np.unique(drawn("binary")["y"])), {0, 0.5})
        self.assertGreater(np.abs(drawn("spikes")["x"]).max(), 30)
        self.assertGreater((drawn("special")["x"] == 0).mean(), 0.4)
        self.assertGreater(np.abs(drawn("wide")["x"]).max(), 500)
        self.assertEqual(int(np.isnan(drawn("nan")["x"]).sum()), 1)
        self.assertEqual(sorted(drawn("infinite")["x"][np.isinf(drawn("infinite")["x"])]), [-np.inf, np.inf])
        for profile in ("normal", "uniform", "shifted", "wide", "spikes", "binary", "structured", "special", "nan", "infinite"):
            values = drawn(profile)
            self.assertGreaterEqual(np.nanmin(values["y"]), 0, "what was never negative stays so")
            np.testing.assert_array_equal(values["x"], drawn(profile)["x"])
            if profile != "structured":
                self.assertFalse(np.array_equal(values["x"], drawn(profile, 6)["x"]))
        self.assertEqual(self.refusal("inputs", id="g", weight_meta=metas, input_meta=[], seed=5, profile="odd")[1],
                         "there is no input kind 'odd'")

    def test_every_input_is_other_on_a_profile(self):
        def drawn(profile, **record):
            meta = {"class": "Program_weight_tensor_meta_x", "name": "x", "shape": [64], "dtype": "int64", **record}
            reply, fds = self.worker.ask("inputs", id="g", weight_meta=[meta], input_meta=[], seed=5, profile=profile)
            return worker_client.read_bundle(reply["tensors"], fds[0])["x"][1]

        self.load(model("z = x + 1", "return (z,)").replace("x, y", "x"))
        gate = {"shape": [], "dtype": "float32", "has_mean": True, "mean": 0.0, "has_std": True, "std": 0.0}
        self.assertEqual(float(drawn("recorded", **gate)), 0)
        self.assertTrue(0.5 <= abs(float(drawn("normal", **gate))) <= 1)
        self.assertTrue(1 <= float(drawn("normal", **gate | {"mean": 2.0})) <= 2)
        literal = list(range(100, 164))
        for name, record, allowed in (
                ("without bounds, always 0", {}, {0, 1}),
                ("of a range", {"min_val": 3, "max_val": 7}, set(range(3, 8))),
                ("all 1", {"int_data": [1] * 64}, {0, 1}),
                ("literal", {"int_data": literal}, set(literal)),
                ("literal truth values", {"dtype": "bool", "int_data": [0, 1, 1, 1] * 16}, {0, 1}),
                ("one truth value", {"dtype": "bool", "int_data": [1] * 64}, {0, 1}),
                ("in any order", {"int_data": literal, "redraw": "order"}, set(literal))):
            recorded, others = drawn("recorded", **record), [drawn(profile, **record) for profile in ("normal", "uniform", "nan")]
            self.assertTrue(any((other != recorded).any() for other in others), name)
            self.assertLessEqual({int(value) for other in others for value in other}, allowed, name)
            if "int_data" in record and len(set(record["int_data"])) > 1:
                self.assertEqual(sorted(others[0]), sorted(recorded), f"{name}: the same in another order")
        kept = {"int_data": literal, "redraw": "none"}
        self.assertEqual(drawn("normal", **kept).tolist(), literal)
        complex_values = drawn("normal", dtype="complex64", has_std=True, std=1.0)
        self.assertGreater(np.abs(complex_values.imag).max(), 0)

    def test_random_operators_are_seeded_as_the_inputs_say(self):
        self.load(model("z = torch.nn.functional.dropout(x, 0.5, True)", "return (z,)"))
        self.x = np.ones((8, 32), np.float32)

        def mask(**seed):
            entries, fd = worker_client.write_bundle({name: ("float32", self.x) for name in ("x", "y")})
            self.worker.ask("set_inputs", fds=[fd], id="g", tensors=entries, **seed)
            os.close(fd)
            return self.run_graph()[0]["out_0"].tolist()

        self.assertEqual(mask(), mask(call_seed=1024))
        self.assertNotEqual(mask(), mask(call_seed=7))
        self.assertEqual(mask(call_seed=7), mask(call_seed=7))

    def test_tells_which_inputs_outputs_depend_on(self):
        self.ready("a = x * 0", "z = a + 1", "n = y.sum()", "m = n > 1000000", "return (z, m)")
        self.run_graph()
        self.assertFalse(self.worker.ask("depends_on", id="g", input="x")[0]["depends"])
        self.assertFalse(self.worker.ask("depends_on", id="g", input="y")[0]["depends"])
        self.ready("a = x > 0", "z = y[a]", "w = y + x", "return (w,)")
        self.run_graph()
        self.assertTrue(self.worker.ask("depends_on", id="g", input="x")[0]["depends"])
        self.ready("n = x.sum()", "k = n.item()", "z = y * 2", "y += n", "return (z,)")
        self.run_graph()
        self.assertTrue(self.worker.ask("depends_on", id="g", input="x")[0]["depends"], "by what it changes")
        self.assertEqual(self.refusal("depends_on", id="g", input="q"), ("bad-input", "the graph has no input 'q'"))

    @own_worker
    def test_finds_kept_values_and_what_a_run_gave_on_them(self):
        metas = [{"class": "Program_weight_tensor_meta_" + name, "name": name, "shape": [8, 8], "dtype": "float32", "mean": 0.0, "std": 1.0,
                  "has_mean": True, "has_std": True} for name in ("x", "y")]
        self.load(model("z = x + y", "return (z,)"))

        def take(profile, **more):
            self.worker.ask("inputs", id="g", weight_meta=metas, input_meta=[], seed=5, profile=profile, **more)

        def differs(found):
            entries, fd = worker_client.write_bundle({name: (str(array.dtype), array) for name, array in found.items()})
            reply, _ = self.worker.ask("compare", fds=[fd], id="g", tensors=entries, scalars={}, layouts=[])
            os.close(fd)
            return not reply["outputs"][0]["equal"]

        found = {}
        for profile in ("recorded", "normal", "uniform"):
            take(profile, keep=True)
            found[profile] = self.run_graph()[0]
        self.assertTrue(differs(found["normal"]), "the last run was on others")
        take("normal", keep=True, share=False)
        self.assertFalse(differs(found["normal"]), "there was no run since")
        self.worker.ask("run", id="g", share="none", again=False)
        self.assertFalse(differs(found["normal"]))
        self.worker.ask("rewind", id="g")
        self.assertFalse(differs(found["recorded"]))
        take("uniform")
        self.worker.ask("run", id="g", share="none", again=False)
        self.assertFalse(differs(found["uniform"]), "what is not kept is drawn and run again")

    def test_traces_types_of_all_values(self):
        self.ready("t = x.transpose(0, 1)", "parts = x.split(1)", "n = x.size(0)", "return (t,)")
        values = self.worker.ask("trace", id="g")[0]["values"]
        self.assertEqual(values["t"], {"dtype": "float32", "shape": [3, 2], "strides": [1, 3]})
        self.assertEqual([value["shape"] for value in values["parts"]["list"]], [[1, 3], [1, 3]])
        self.assertEqual(values["n"], {"int": 2})

    def test_targets_are_looked_up_without_a_graph(self):
        for target, method in (("torch.roll", False), ("torch.special.i0e", False), ("torch.ops.aten.sgn", False), ("view", True)):
            self.worker.ask("check_target", target=target, method=method)
        self.assertEqual(self.refusal("check_target", target="torch.rol"),
                         ("unsupported", "unknown operator 'torch.rol' (did you mean 'torch.roll'?)"))
        self.assertEqual(self.refusal("check_target", target="vieww", method=True),
                         ("unsupported", "unknown method 'vieww' (did you mean 'view'?)"))

    def test_errors_name_the_line(self):
        self.assertEqual(self.refusal("load", id="g", file="model.py", model=model("z = torch.nn.functional.gelo(x)", "return (z,)")),
                         ("unsupported", "model.py:6:13: unknown operator 'torch.nn.functional.gelo' "
                                         "(did you mean 'torch.nn.functional.gelu'?)"))
        self.load(model("z = x.view(4)", "return (z,)"))
        self.set_inputs(x=self.x, y=self.y)
        self.assertEqual(self.refusal("run", id="g"), ("bad-input", "model.py:6:13: 'view': shape '[4]' is invalid for input of size 6"))

    def test_outputs_of_other_kinds_are_refused(self):
        for line, what in (("x.to_sparse()", "a Sparse tensor of Float"), ("x.chalf()", "a Strided tensor of ComplexHalf")):
            self.ready(f"z = {line}", "return (z,)")
            self.assertEqual(self.refusal("run", id="g"), ("unsupported", f"'out_0' is {what}, expected a dense one of an "
                                                                          "element type that graphs have"))
            self.assertEqual(self.worker.ask("trace", id="g")[0]["values"]["z"], {"none": True})

    def test_autocast_ends_with_the_call(self):
        enter = "m = torch.amp.autocast_mode._enter_autocast('cpu', torch.bfloat16, True, None)"
        for lines in ([enter, "z = x @ y.T", "return (z,)"], [enter, "z = x @ y", "return (z,)"]):
            self.ready(*lines)
            if lines[1].endswith(".T"):
                reply, fds = self.worker.ask("run", id="g")
                self.assertEqual(worker_client.read_bundle(reply["outputs"], fds[0])["out_0"][0], "bfloat16")
            else:
                self.refusal("run", id="g")
            self.ready("z = x @ y.T", "return (z,)")
            reply, fds = self.worker.ask("run", id="g")
            self.assertEqual(worker_client.read_bundle(reply["outputs"], fds[0])["out_0"][0], "float32")

    def test_assertions_of_a_graph_hold(self):
        self.ready("n = x.size(0)", "g = n > 5", "a = torch._check(g)", "return (x,)")
        self.assertEqual(self.refusal("run", id="g")[1], "model.py:8:13: a condition that the graph asserts does not hold")
        self.ready("g = x.sum() > 1000", "a = torch.ops.aten._assert_scalar.default(g, 'too small')", "return (x,)")
        self.assertEqual(self.refusal("run", id="g")[1], "model.py:7:13: too small")

    def test_integers_are_those_of_python_or_refused(self):
        sizes = ["n = x.size(0)", "m = n ** 62", "low = m * -2"]  # 2, 2 ** 62, -(2 ** 63)
        for line, value in (("low % -1", 0), ("low // 3", -3074457345618258603), ("low >> 70", -1), ("n ** 10", 1024)):
            self.ready(*sizes, f"r = {line}", "return (x, r)")
            self.assertEqual(self.run_graph()[1], {"out_1": {"int": value}}, line)
        for line, why in (("n ** m", "integer overflow: 2 ** 4611686018427387904 does not fit into 64 bits"),
                          ("m + m", "integer overflow: 4611686018427387904 + 4611686018427387904 does not fit into 64 bits"),
                          ("low // -1", "integer overflow: -9223372036854775808 // -1 does not fit into 64 bits"),
                          ("-low", "integer overflow: 0 - -9223372036854775808 does not fit into 64 bits"),
                          ("n << 64", "integer overflow: 2 << 64 does not fit into 64 bits"),
                          ("n << -1", "negative shift: 2 << -1"),
                          ("n % 0", "division by zero: 2 % 0"),
                          ("math.gcd(low, 0)", "integer overflow: gcd(-9223372036854775808, 0) does not fit into 64 bits"),
                          ("math.floor(1e300)", "1e+300 is no integer of 64 bits")):
            text = model(*sizes, f"r = {line}", "return (x, r)").replace("import torch", "import math\nimport torch", 1)
            with self.subTest(line), self.assertRaises(worker_client.WorkerError) as caught:
                self.load(text)  # refused here where no size is needed
                self.set_inputs(x=self.x, y=self.y)
                self.run_graph()
            self.assertEqual((caught.exception.kind, str(caught.exception)), ("bad-input", f"model.py:10:13: {why}"))

    def test_what_is_refused_is_named_with_the_reason(self):
        self.assertEqual(self.refusal("load", id="g", file="model.py", model=model("z = x.numpy()", "return (z,)")),
                         ("unsupported", "model.py:6:13: method 'numpy' is not run: its result is no value of PyTorch's that a "
                                         "graph could go on with"))
        self.assertEqual(self.refusal("load", id="g", file="model.py", model=model("z = torch.ops.mylib.f(x)", "return (z,)"))[1],
                         "model.py:6:13: operator 'torch.ops.mylib.f' is not run: it belongs to a library of operators that the "
                         "worker does not load: aten is the one it has")

    @own_worker
    def test_tells_the_peak_of_what_a_call_held(self):
        self.ready("a = torch.zeros(1000000)", "b = a + 1", "c = b + 1", "d = c.sum()", "return (d,)")
        reply, fds = self.worker.ask("run", id="g")
        os.close(fds[0])
        # Two of the three at a time: each is freed by the one that reads it last.
        self.assertEqual(reply["peak_bytes"] // 4_000_000, 2)

    @own_worker
    def test_large_inputs_are_copied_where_a_call_writes(self):
        mib = 1 << 20
        self.load(model("y += 1", "s = x[5] + y[0]", "return (s, y)"))
        x, y = np.full(300 * mib, 7, np.int8), np.arange(10, dtype=np.int8)
        entries, fd = worker_client.write_bundle({"x": ("int8", x), "y": ("int8", y)})
        before = anonymous_mib(self.worker)
        self.worker.ask("set_inputs", fds=[fd], id="g", tensors=entries)
        for _ in range(2):
            tensors, _ = self.run_graph()
            self.assertEqual(tensors["out_0"], 8)
            np.testing.assert_array_equal(tensors["out_1"], y + 1)
        self.assertEqual(self.worker.ask("time", id="g", calls=3, fingerprint=True)[0]["changed"], 0)
        self.assertLess(anonymous_mib(self.worker) - before, 50)
        np.testing.assert_array_equal(worker_client.read_bundle(entries, fd)["y"][1], y)

    def test_graphs_share_inputs_that_each_may_change(self):
        self.ready("y += 1", "z = x + y", "return (z,)")
        self.worker.ask("load", id="other", file="model.py", model=model("x *= y", "return (x,)"))
        self.assertEqual(self.refusal("set_inputs", id="g", of="other")[1],
                         "the graph's inputs are not set (send 'set_inputs' first)")
        self.worker.ask("set_inputs", id="other", of="g")
        for _ in range(2):
            reply, fds = self.worker.ask("run", id="other", checked=False)
            np.testing.assert_array_equal(worker_client.read_bundle(reply["outputs"], fds[0])["out_0"][1], self.x * self.y)
            np.testing.assert_array_equal(self.run_graph()[0]["out_0"], self.x + self.y + 1)
        self.worker.ask("unload", id="g")
        reply, fds = self.worker.ask("run", id="other", checked=False)
        np.testing.assert_array_equal(worker_client.read_bundle(reply["outputs"], fds[0])["out_0"][1], self.x * self.y)

    @own_worker
    def test_shared_inputs_are_not_copied_again(self):
        mib = 1 << 20
        self.load(model("s = x[5] + y[0]", "return (s,)"))
        entries, fd = worker_client.write_bundle({"x": ("int8", np.full(300 * mib, 7, np.int8)), "y": ("int8", np.ones(1, np.int8))})
        self.worker.ask("set_inputs", fds=[fd], id="g", tensors=entries)
        os.close(fd)
        self.worker.ask("load", id="other", file="model.py", model=model("s = x[7] - y[0]", "return (s,)"))
        before = anonymous_mib(self.worker)
        self.worker.ask("set_inputs", id="other", of="g")
        reply, fds = self.worker.ask("run", id="other", checked=False)
        self.assertEqual(worker_client.read_bundle(reply["outputs"], fds[0])["out_0"][1], 6)
        self.assertLess(anonymous_mib(self.worker) - before, 50)

    def test_replayed_inputs_are_those_of_the_graph(self):
        self.load(model("z = x + y", "return (z,)"))
        metas = [{"class": f"M{name}", "name": name, "shape": [2], "dtype": "float32", "float_data": [float(name == "x"), 2.0]} for name in "xy"]
        self.worker.ask("inputs", id="g", weight_meta=metas, input_meta=[], seed=1)
        np.testing.assert_array_equal(self.run_graph()[0]["out_0"], [1, 4])

    @own_worker
    def test_more_memory_than_there_is_is_refused_before_it_is_used(self):
        self.ready("z = torch.zeros(1000000, 1000000)", "return (z,)")
        kind, message = self.refusal("run", id="g")
        self.assertEqual(kind, "resource")
        self.assertRegex(message, r"^model.py:6:13: 'torch.zeros': a tensor needs 3814697 MiB of memory, found \d+ MiB available$")
        meta = {"class": "M", "name": "x", "shape": [1000000, 1000000], "dtype": "float32"}
        kind, message = self.refusal("inputs", id="g", weight_meta=[meta], input_meta=[], seed=1)
        self.assertEqual(kind, "resource")
        self.assertRegex(message, r"^the inputs need 3725.3 GiB of memory, found [\d.]+ GiB available")
        self.ready("z = x + y", "return (z,)")
        self.run_graph()

    def test_wrong_requests_are_answered(self):
        self.assertEqual(self.refusal("lod")[1], "unknown request 'lod' (did you mean 'load'?)")
        self.assertEqual(self.refusal("run", id="nothing")[1], "no graph is loaded as 'nothing'")
        self.assertEqual(self.refusal("load", id="g")[0], "bad-input")
        self.load(model("z = x + y", "return (z,)"))
        self.assertEqual(self.refusal("run", id="g")[1], "the graph's inputs are not set (send 'set_inputs' first)")
        self.assertEqual(self.refusal("set_inputs", id="g", tensors=[])[1], "0 descriptors came with the request, expected 1")
        entries, fd = worker_client.write_bundle({"x": ("float32", self.x), "z": ("float32", self.y)})
        self.assertEqual(self.refusal("set_inputs", fds=[fd], id="g", tensors=entries)[1],
                         "no tensor for argument 'y' of forward (given: x, z)")
        os.close(fd)

    @own_worker
    def test_ends_when_told_or_left(self):
        self.worker.ask("exit")
        self.assertEqual(self.worker.process.wait(5), 0)
        other = worker_client.Worker(BINARY)
        other.socket.close()
        self.assertEqual(other.process.wait(5), 0)

    @own_worker
    def test_ends_on_nonsense(self):
        self.worker.socket.sendall(b"GET / HTTP/1.1\r\n\r\n")
        self.assertEqual(self.worker.process.wait(5), 3)

    @own_worker
    def test_text_that_is_no_json_is_answered(self):
        self.worker.socket.sendall(struct.pack("<I", 3) + b"{x}")
        head, _ = self.worker._receive(4)
        body, _ = self.worker._receive(struct.unpack("<I", head)[0])
        self.assertEqual(json.loads(body)["kind"], "bad-input")
        self.assertEqual(self.worker.ask("hello")[0]["threads"], 2)


class CandidateTest(WorkerCase):
    role = "candidate"
    n = 40000
    sha256 = ""  # of the object, where it is to be checked
    x = np.arange(n, dtype=np.float32)
    y = np.ones(n, np.float32)

    objects = {}  # of each body: the directory of its object

    def compiled(self, body):
        if body not in self.objects:
            directory = pathlib.Path(tempfile.mkdtemp())
            unittest.addModuleCleanup(shutil.rmtree, directory)
            (directory / "f.cpp").write_text(KERNEL.replace("BODY", body))
            subprocess.run(["g++", "-O1", "-shared", "-fPIC", "-I", SOURCE / "include", "-o", directory / "f.so", directory / "f.cpp"], check=True)
            self.objects[body] = directory
        return self.objects[body]

    def ready(self, body, tasks=8, text=FUSED):
        """Returns: the reply to 'load'."""
        directory = self.compiled(body)
        buffers = [{"input": 0, **tensor_json([self.n])}, {"input": 1, **tensor_json([self.n])}, tensor_json([self.n])]
        views = [{"buffer": i, "offset": 0, **tensor_json([self.n])} for i in range(3)]
        launch = {"kernel": "f", "constants": [], "grid": [tasks], "block": 1, "args": [*views, {"int": self.n}],
                  "at": {"file": "F.py", "line": 7, "column": 3}}
        launch_list = {"pass": "F", "buffers": buffers, "launches": [launch], "outputs": [views[2]]}
        loaded = self.load(text, launch_lists=[launch_list], kernels=[[{"object": str(directory / "f.so"), "entry": "passnet_run_f", "sha256": self.sha256}]])
        self.set_inputs(x=self.x, y=self.y)
        return loaded

    SUM = "for (int64_t i = task * (n / 8); i < (task + 1) * (n / 8); ++i) out[i] = x[i] + y[i];"

    def test_runs_kernels(self):
        self.ready(self.SUM)
        for checked in (True, False):
            np.testing.assert_array_equal(self.run_graph(checked)[0]["out_0"], self.x + 1)
        reply, _ = self.worker.ask("time", id="g", calls=5, fingerprint=True)
        self.assertEqual(reply["changed"], 0)

    def checked_refusal(self, body):
        self.ready(body)
        return self.refusal("run", id="g", checked=True)

    def test_finds_unwritten_outputs(self):
        self.assertEqual(self.checked_refusal(self.SUM.replace("i < (task", "i < -5 + (task")),
                         ("unwritten-output", "F.py:7:3: pass 'F' leaves 40 of 40000 elements of output 0 (float32[40000]) unwritten, "
                                              "the first at [4995]"))

    def test_finds_changed_inputs(self):
        self.assertEqual(self.checked_refusal(self.SUM + " y[3] = 5;"),
                         ("input-changed", "F.py:7:3: kernel 'f' of pass 'F' changed input 1 (float32[40000])"))

    def test_finds_inputs_changed_in_timed_calls(self):
        # Behaves where it is watched: a checked buffer of this size starts 3840 bytes into a page.
        self.ready(self.SUM + " if (((unsigned long)x & 4095) != 3840) y[3] = 5;")
        self.run_graph(checked=True)
        kind, message = self.refusal("time", id="g", calls=1)
        self.assertEqual((kind, message), ("input-changed", "F.py:7:3: kernel 'f' of pass 'F' changed input 1 (float32[40000])"))

    @own_worker
    def test_finds_writes_right_behind_the_end(self):
        kind, message = self.checked_refusal(self.SUM + " out[n] = 1;")
        self.assertEqual((kind, message), ("out-of-bounds", "F.py:7:3: kernel 'f' of pass 'F' touched memory outside of output 0 (float32[40000]): "
                                                            "the first byte behind its end"))

    def test_launches_wait_for_what_reads_elements_and_not_for_views(self):
        views = ("v = z.view(200, 200)", "w = v.transpose(0, 1)[3:5]")
        copied = ("r = v.transpose(0, 1).reshape(40000)", "t_1 = passnet.fused(0, r, y)", "u = t_1[0]")
        square = (self.x + 1).reshape(200, 200)
        once = self.ready(self.SUM)["calls_at_once"]
        self.assertGreater(once, 1)
        for lines, returned, together, expected in (
                (views, "w", True, square.T[3:5]),
                # What is copied was written before: the launch runs first, and the next one reads the copy.
                ((views[0], *copied), "u", True, square.T.reshape(-1) + 1),
                ((views[0], "r = z.reshape(400, 100)", "t_1 = passnet.fused(0, z, y)", "u = t_1[0]"), "u", True, self.x + 2),
                (("u = z * 2",), "u", False, (self.x + 1) * 2)):
            loaded = self.ready(self.SUM, text=fused_model(*lines, f"return ({returned},)"))
            self.assertEqual(loaded["calls_at_once"] > 1, together, lines)
            np.testing.assert_array_equal(self.run_graph(True)[0]["out_0"], expected)
            np.testing.assert_array_equal(self.run_graph(False)[0]["out_0"], expected)

    def test_calls_that_are_handed_over_together_may_make_views_and_copies(self):
        lines = ("v = z.view(200, 200)", "r = v.transpose(0, 1).reshape(40000)", "t_1 = passnet.fused(0, r, y)", "u = t_1[0].view(8, 5000)")
        same = ("v = (x + y).view(200, 200)", "r = v.transpose(0, 1).reshape(40000)", "u = (r + y).view(8, 5000)")
        checks, _ = self.on_sets(self.SUM, whole=True, lines=lines, same=same)
        self.assertEqual((checks["compared"], checks["outputs"][0]["passes_from"]), (6, -10))

    def test_calls_on_the_same_tensors_are_handed_over_together(self):
        once = self.ready(self.SUM)["calls_at_once"]
        np.testing.assert_array_equal(self.run_graph()[0]["out_0"], self.x + 1)
        for together in (1, 3, once):
            reply, _ = self.worker.ask("time", id="g", calls=2, fingerprint=True, settle=True, together=together)
            self.assertEqual((len(reply["times_us"]), reply["changed"]), (2, 0))
        self.assertEqual(self.refusal("time", id="g", calls=1, together=once + 1),
                         ("bad-input", f"{once + 1} calls together: there is room for {once}"))

    def test_finds_writes_just_outside(self):
        self.n, self.x, self.y = 40008, np.zeros(40008, np.float32), np.zeros(40008, np.float32)
        self.assertEqual(self.checked_refusal(self.SUM + " out[n + 2] = 1; for (int64_t i = 0; i < n; ++i) out[i] = 0;"),
                         ("out-of-bounds", "F.py:7:3: kernel 'f' of pass 'F' wrote outside of output 0 (float32[40008]): 8 bytes past its end"))

    @own_worker
    def test_finds_writes_far_outside_and_lives_on(self):
        kind, message = self.checked_refusal(self.SUM + " out[n + 5] = 1;")
        self.assertEqual((kind, message), ("out-of-bounds", "F.py:7:3: kernel 'f' of pass 'F' touched memory outside of output 0 (float32[40000]): "
                                                            "20 bytes past its end"))
        self.assertEqual(self.worker.ask("hello")[0]["threads"], 2)

    def test_tells_when_all_threads_fault_at_a_time(self):
        for _ in range(8 if FULL else 2):
            self.worker = worker_client.Worker(BINARY, self.role)
            self.addCleanup(self.worker.close)
            self.assertEqual(self.checked_refusal("out[n + 5] = 1;")[0], "out-of-bounds")

    @own_worker
    def test_names_the_kernel_that_crashes(self):
        kind, message = self.checked_refusal(self.SUM + " *(volatile int*)16 = 0;")
        self.assertEqual((kind, message), ("crash", "F.py:7:3: kernel 'f' of pass 'F' crashed: SIGSEGV (invalid memory access)"))
        self.ready(self.SUM)
        np.testing.assert_array_equal(self.run_graph(True)[0]["out_0"], self.x + 1)

    @own_worker
    def test_kernels_can_do_nothing_but_compute(self):
        call = "asm volatile(\"syscall\" : : \"a\"({}), \"D\"({}), \"S\"({}), \"d\"({}) : \"rcx\", \"r11\", \"memory\");"
        for body, expected in (
                (call.format("1L", "2L", "x", "8L"), "made a system call (number 1), which kernels may not"),  # write
                (call.format("9L", "0L", "4096L", "7L"), "made a system call (number 9), which kernels may not"),  # mmap
                (call.format("202L", "x", "1L", "1L"), "made a system call (number 202), which kernels may not"),  # futex wake of others
                (call.format("231L", "0L", "0L", "0L"), "ended its process: exit code 0"),
                ("unsigned low, high; asm volatile(\"rdtsc\" : \"=a\"(low), \"=d\"(high)); out[0] = low;",
                 "crashed: SIGSEGV (invalid memory access)"),
                ("static volatile float kept; kept = x[1]; out[0] = kept;", "crashed: SIGSEGV (invalid memory access)"),
                ("asm volatile(\"int3\");", "crashed: SIGTRAP (trap instruction)")):
            kind, message = self.checked_refusal(self.SUM + " if (task == 0) { " + body + " }")
            self.assertEqual((kind, message), ("crash", "F.py:7:3: kernel 'f' of pass 'F' " + expected), body)

    @own_worker
    def test_a_thread_that_waits_for_a_time_is_refused(self):
        body = ("long time[2] = {0, 1000}; register long limit asm(\"r10\") = (long)time; asm volatile(\"syscall\" : : \"a\"(202L), "
                "\"D\"(x), \"S\"(0L), \"d\"(0L), \"r\"(limit) : \"rcx\", \"r11\", \"memory\");")
        self.assertIn("made a system call (number 202)", self.checked_refusal(self.SUM + " if (task == 0) { " + body + " }")[1])

    @own_worker
    def test_arithmetic_is_as_before_after_a_launch(self):
        # Rounds towards zero from its second task on; the first launch after it computes as usual again.
        self.ready(self.SUM + " unsigned mode = 0x7f80; asm volatile(\"ldmxcsr %0\" : : \"m\"(mode));")
        self.run_graph(checked=True)
        self.ready("if (task == 0) out[0] = 1; for (int64_t i = task * (n / 8); i < (task + 1) * (n / 8); ++i) out[i] = x[i] / 3;")
        np.testing.assert_array_equal(self.run_graph(checked=True)[0]["out_0"], self.x / np.float32(3))

    @own_worker
    def test_tiles_of_a_matrix_unit_do_not_outlive_a_launch(self):
        # Each task leaves a shape of as many rows as the first input says. A task may find that of another task of its
        # launch on the same thread, but none of an earlier launch, whose first input is another.
        rows = "const char rows = static_cast<char>(x[0]);"
        find = ("if (launch->matrix_unit) { char shape[64]; asm volatile(\"sttilecfg %0\" : \"=m\"(shape)); "
                "if (shape[0] != 0 && shape[48] != rows) out[task * (n / 8)] = -1; }")
        leave = ("if (launch->matrix_unit) { char shape[64] = {1}; shape[16] = 64; shape[48] = rows; asm volatile(\"ldtilecfg %0\" : : \"m\"(shape)); }")
        self.ready(rows + self.SUM + find + leave)
        for first in range(1, 17):
            x = self.x.copy()
            x[0] = first
            self.set_inputs(x=x, y=self.y)
            np.testing.assert_array_equal(self.run_graph(checked=False)[0]["out_0"], x + self.y)

    def test_an_object_that_was_swapped_is_not_loaded(self):
        self.sha256 = "0" * 64
        with self.assertRaises(worker_client.WorkerError) as caught:
            self.ready(self.SUM)
        self.assertRegex(str(caught.exception), "cannot load kernel 'f': '.*f.so' is not the object that was built for it")

    def on_sets(self, body, calls=6, together=3, whole=False, seen_by=("reference", "candidate"), lines=("u = z",), same=("u = x + y",)):
        """What a reference says of the candidate's timed calls, each on inputs of its own. whole: all of these are given to the
        candidate. seen_by: whose calls have those of seed 7; the others' have seed 8's. lines: of the candidate's graph, which
        goes on with z = x + y by a kernel; same: of the reference's, which computes that itself."""
        reference = SharedWorker.of("reference")
        reference.ask("load", id="g", file="model.py", model=model(*same, "return (u,)"))
        for worker in (reference, self.worker):
            entries, fd = worker_client.write_bundle({"x": ("float32", self.x), "y": ("float32", self.y)})
            if worker is self.worker:
                self.ready(body, text=fused_model(*lines, "return (u,)"))
            else:
                worker.ask("set_inputs", fds=[fd], id="g", tensors=entries)
            os.close(fd)
        sets, fds = reference.ask("make_call_sets", id="g", sets=calls, whole=whole)
        self.worker.ask("set_call_sets", fds=fds, id="g", **{key: sets[key] for key in ("tensors", "stride", "sets")})
        self.assertEqual(sets["sets"], calls)
        reference.ask("renew_call_sets", id="g", seed=7, calls=calls)
        seed = {role: 7 if role in seen_by else 8 for role in ("reference", "candidate")}
        expected, _ = reference.ask("time_on_sets", id="g", calls=calls, together=together, expected=True, seed=seed["reference"])
        found, found_fds = self.worker.ask("time_on_sets", id="g", calls=calls, together=together, settling=1, seed=seed["candidate"])
        self.assertEqual((len(expected["times_us"]), len(found["times_us"])), (calls // together, calls // together))
        inputs = worker_client.read_bundle(sets["tensors"], os.dup(fds[0]))
        checks, _ = reference.ask("compare_calls", fds=found_fds, id="g", tensors=found["outputs"], scalars={}, rows_seed=found["rows_seed"])
        for fd in (*fds, *found_fds):
            os.close(fd)
        return checks, inputs

    def test_timed_calls_have_inputs_of_their_own_and_are_all_compared(self):
        checks, inputs = self.on_sets(self.SUM, whole=True)
        self.assertFalse(np.array_equal(inputs["x"][1], self.x))
        self.assertTrue(set(inputs["x"][1]) <= set(self.x))
        self.assertEqual((checks["compared"], checks["outputs"][0]["passes_from"], checks["inputs"]), (6, -10, {}))

    def test_each_side_puts_large_inputs_of_timed_calls_together_by_itself(self):
        checks, inputs = self.on_sets(self.SUM)
        self.assertEqual(inputs, {})
        self.assertEqual((checks["compared"], checks["outputs"][0]["passes_from"]), (6, -10))
        checks, _ = self.on_sets(self.SUM, seen_by=("reference",))
        self.assertGreater(checks["outputs"][0]["passes_from"], 0)

    def test_compares_some_rows_of_what_large_timed_calls_gave(self):
        self.n = 1 << 21  # twice as many as are looked at
        self.x, self.y = np.arange(self.n, dtype=np.float32), np.ones(self.n, np.float32)
        checks, _ = self.on_sets(self.SUM, calls=2, together=1)
        self.assertEqual((checks["compared"], checks["outputs"][0]["passes_from"]), (2, -10))
        checks, _ = self.on_sets(self.SUM + " if (task == 3) for (int64_t i = 0; i < n / 8; ++i) out[3 * (n / 8) + i] = 0.0f / 0.0f;", calls=2, together=1)
        check = checks["outputs"][0]
        self.assertEqual((check["passes_from"], check["expected_shape"], check["found_shape"]), (6, [self.n], [self.n]))

    def test_finds_what_is_wrong_in_one_timed_call(self):
        # Right on the inputs of the checked call alone. A timed call is compared in a random part of its elements: each task
        # spoils all of its own.
        spoil = "for (int64_t i = task * (n / 8); i < (task + 1) * (n / 8); ++i) out[i] = 0.0f / 0.0f;"
        checks, _ = self.on_sets(self.SUM + f" if (x[0] != 0 || x[1] != 1 || x[n - 1] != n - 1) {spoil}")
        self.assertEqual(checks["outputs"][0]["passes_from"], 6)

    @own_worker
    def test_tells_the_launch_and_the_code_that_faulted(self):
        self.ready(self.SUM + " out[n + 5] = 1;")
        with self.assertRaises(worker_client.WorkerError) as caught:
            self.worker.ask("run", id="g", checked=True)
        reply = caught.exception.reply
        self.assertEqual(reply["launch"], "launch 1 of 1 at F.py:7, grid (8): input 0 (float32[40000]), input 1 (float32[40000]), "
                                          "output 0 (float32[40000]), 40000")
        self.assertEqual((reply["code"]["list"], reply["code"]["launch"]), (0, 0))
        self.assertGreater(reply["code"]["offset"], 0)

    @own_worker
    def test_says_which_kernel_runs_when_it_is_told_to_end(self):
        self.ready("for (volatile int spin = 1; spin;) {}")
        self.worker.socket.settimeout(0.5)
        with self.assertRaises(TimeoutError):
            self.worker.ask("run", id="g", checked=True)
        self.worker.socket.settimeout(30)
        self.worker.process.terminate()
        with self.assertRaises(worker_client.WorkerError) as caught:
            self.worker.receive()
        reply = caught.exception.reply
        self.assertEqual((reply["kind"], reply["error"]), ("timeout", "kernel 'f' of pass 'F' was running"))
        self.assertIn("launch 1 of 1", reply["launch"])
        self.assertEqual(self.worker.process.wait(5), 128 + signal.SIGTERM)

    @own_worker
    def test_a_kernel_that_loops_for_ever_is_the_peers_to_kill(self):
        self.ready("for (volatile int spin = 1; spin;) {}")
        self.worker.socket.settimeout(0.5)
        with self.assertRaises(TimeoutError):
            self.worker.ask("run", id="g", checked=True)
        self.worker.process.kill()

    def test_does_not_answer_what_only_the_reference_may(self):
        self.assertEqual(self.refusal("compare", id="g", tensors=[])[1], "only the reference worker answers 'compare'")

    def test_tells_inputs_that_do_not_fit_the_launch_list(self):
        self.ready(self.SUM)
        self.set_inputs(x=self.x[:8], y=self.y[:8])
        kind, message = self.refusal("run", id="g")
        self.assertEqual(kind, "other-shapes")
        self.assertIn("input 0 is float32[8], the launch list was made for float32[40000]", message)


if __name__ == "__main__":
    unittest.main(verbosity=2)
