"""A worker on a GPU over many graphs: what it gives back, what it does when the memory is full, and where tensors lie. Skipped
where there is no GPU."""

import os
import pathlib
import subprocess
import sys
import unittest

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "runtime"))
import worker_client  # noqa: E402
from gpu_main import main  # noqa: E402

BINARY = os.path.join(os.environ.get("PASSNET_BINARY_DIR", "build"), "bin/passnet-worker")
MIB = 1 << 20
MODEL = """import torch

class GraphModule(torch.nn.Module):

    def forward(self, x, w):
{body}
"""
# Products, a convolution, a transform and attention: libraries that keep workspaces, plans and kernels of their own.
GRAPHS = [
    ["y = x @ w", "z = torch.nn.functional.gelu(y)", "return (z,)"],
    ["y = torch.nn.functional.linear(x, w)", "z = torch.nn.functional.softmax(y, -1)", "return (z, y)"],
    ["y = x.view(1, 1, x.size(0), x.size(1))", "z = torch.nn.functional.conv2d(y, w[:3, :3].reshape(1, 1, 3, 3))", "return (z,)"],
    ["y = torch.fft.rfft(x)", "z = y.abs() + 1", "return (z,)"],
    ["y = torch.nn.functional.scaled_dot_product_attention(x[None, None], w[None, None], w[None, None])", "return (y,)"],
    ["x += 1", "return (x.sum(0), torch.arange(x.size(0)))"],
]


def used_mib():
    told = subprocess.run(["nvidia-smi", "--query-gpu=memory.used", "--format=csv,noheader,nounits"], capture_output=True, text=True)
    return int(told.stdout.split()[0])


class GpuWorkerCase(unittest.TestCase):
    def setUp(self):
        self.worker = worker_client.Worker(BINARY, more_flags=["--gpu", "0"])
        self.addCleanup(self.worker.close)

    def load(self, lines, cuda_graph="auto"):
        text = MODEL.format(body="\n".join("        " + line for line in lines))
        self.worker.ask("load", id="g", file="model.py", model=text, cuda_graph=cuda_graph)

    def set_inputs(self, x, w):
        entries, fd = worker_client.write_bundle({"x": (str(x.dtype), x), "w": (str(w.dtype), w)})
        self.worker.ask("set_inputs", fds=[fd], id="g", tensors=entries)
        os.close(fd)

    def run_graph(self):
        reply, fds = self.worker.ask("run", id="g", checked=True)
        return {name: array for name, (_, array) in worker_client.read_bundle(reply["outputs"], fds[0]).items()}

    def time(self, **how):
        return self.worker.ask("time", id="g", calls=6, fingerprint=True, **how)[0]

    def unload(self):
        return self.worker.ask("unload", id="g")[0]["device_memory"]


class Memory(GpuWorkerCase):
    def test_two_hundred_graphs_leave_no_more_than_twenty(self):
        kept, used, modes = [], [], set()
        for i in range(200):
            size = 256 + 64 * (i * 7 % 23)
            self.load(GRAPHS[i % len(GRAPHS)])
            values = np.random.default_rng(i)
            self.set_inputs(values.standard_normal((size, size), np.float32), values.standard_normal((size, size), np.float32))
            self.run_graph()
            modes.add(self.time(fresh=True)["mode"])
            self.time(fresh=True, flush=True, clock="device")
            memory = self.unload()
            self.assertGreaterEqual(memory["peak_bytes"], 2 * size * size * 4)
            self.assertLess(memory["kept_bytes"], memory["peak_bytes"])
            kept.append(memory["kept_bytes"])
            used.append(used_mib() if i in (60, 199) else 0)
        self.assertTrue(modes & {"direct", "graph"}, modes)
        self.assertEqual(max(kept[20:]), min(kept[20:]), f"{max(kept)} bytes were kept, {kept[20]} at first")
        self.assertLess(used[199] - used[60], 64, "MiB of the device")

    def test_a_full_device_is_the_machines_fault_and_passes(self):
        small = np.ones((4, 4), np.float32)
        self.load(["y = torch.zeros((1048576, 1048576)) + x[0, 0]", "return (y,)"])
        self.set_inputs(small, small)
        with self.assertRaises(worker_client.WorkerError) as raised:
            self.run_graph()
        self.assertEqual(raised.exception.kind, "resource")
        self.assertIn("out of memory", str(raised.exception))
        self.assertTrue(raised.exception.reply["retry"])
        self.assertNotIn("ends_worker", raised.exception.reply)
        self.load(["y = x + w", "return (y,)"])
        self.set_inputs(small, small)
        np.testing.assert_array_equal(self.run_graph()["out_0"], 2 * small)

    def test_an_index_outside_is_the_graphs_fault_and_ends_the_worker(self):
        self.load(["y = torch.nn.functional.embedding(x, w)", "return (y,)"])
        self.set_inputs(np.full((4,), 1 << 20, np.int64), np.ones((4, 4), np.float32))
        with self.assertRaises(worker_client.WorkerError) as raised:
            self.run_graph()
        self.assertEqual(raised.exception.kind, "bad-input")
        self.assertIn("assert", str(raised.exception))
        self.assertTrue(raised.exception.reply["ends_worker"])
        self.assertNotIn("retry", raised.exception.reply)
        with self.assertRaises((EOFError, OSError)):
            self.worker.ask("hello")


class Recorded(GpuWorkerCase):
    def test_an_output_may_lie_where_a_far_larger_temporary_stood(self):
        # c lies at the beginning of what a was. Patched to where c lies in a later call, the address of a would have a gibibyte
        # written over whatever lies behind c.
        x = np.arange(1 << 19, dtype=np.float32).reshape(512, 1024) / (1 << 19)
        self.load(["a = x.unsqueeze(0).repeat(512, 1, 1)", "b = a.mean(0)", "a = None", "c = b + w", "return (c,)"])
        self.set_inputs(x, x)
        np.testing.assert_allclose(self.run_graph()["out_0"], 2 * x, rtol=1e-5)
        timed = self.time(fresh=True)
        self.assertEqual(timed["changed"], 0)
        self.assertNotEqual(timed["mode"], "operators", timed)
        self.assertGreater(self.unload()["peak_bytes"], 512 * x.nbytes)


class Placement(GpuWorkerCase):
    small = np.arange(16, dtype=np.float32).reshape(4, 4)

    def test_a_graph_that_makes_its_own_tensors_is_recorded_with_them(self):
        # As ConViT's and BEiT's tables of relative positions.
        self.load(["a = torch.arange(4)", "b = a.view(1, -1) - a.view(-1, 1)", "c = b.repeat_interleave(2, dim = 1)",
                   "z = torch.zeros(1, 4, 8, 3)", "z[(slice(None, None, None), slice(None, None, None), slice(None, None, None), 2)] = c",
                   "y = x @ w", "return (z, y, c)"])
        self.set_inputs(self.small, self.small)
        outputs = self.run_graph()
        table = np.repeat(np.arange(4)[None, :] - np.arange(4)[:, None], 2, axis=1)
        np.testing.assert_array_equal(outputs["out_2"], table)
        np.testing.assert_array_equal(outputs["out_0"][0, :, :, 2], table)
        np.testing.assert_allclose(outputs["out_1"], self.small @ self.small)
        timed = self.time(fresh=True)
        self.assertEqual(timed["changed"], 0)
        self.assertNotEqual(timed["mode"], "operators", timed)

    def test_an_output_on_the_cpu_is_compared_there_and_keeps_a_call_from_being_recorded(self):
        self.load(["y = x @ w", "return (y, torch.tensor(0.5))"])
        self.set_inputs(self.small, self.small)
        self.assertEqual(self.run_graph()["out_1"], 0.5)
        for how in ({}, {"fresh": True, "flush": True, "clock": "device"}):
            timed = self.time(**how)
            self.assertEqual((timed["mode"], timed["changed"]), ("operators", 0))
            self.assertEqual(timed["why_not_recorded"], "output 1 lies on the CPU")


if __name__ == "__main__":
    main()
