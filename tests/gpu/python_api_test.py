"""torch.compile(model, backend="passnet") on a GPU: recorded calls, streams, inputs anywhere; passes written and used. Skipped without one."""

import concurrent.futures
import copy
import json
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "python_api"))
from gpu_main import has_gpu, main  # noqa: E402

if has_gpu():
    import package
    import torch
    from torch import nn

    import passnet
    from passnet import backend, cache
    from passnet.rewrites import form_as_run
    from passnet.tracing import trace_whole

    class Block(nn.Module):
        def __init__(self, width=256):
            super().__init__()
            self.norm, self.up, self.down = nn.LayerNorm(width), nn.Linear(width, 2 * width), nn.Linear(2 * width, width)
            self.register_buffer("scale", torch.full((width,), 0.5))

        def forward(self, x):
            return torch.relu(x + self.scale * self.down(nn.functional.gelu(self.up(self.norm(x)))))

    torch.set_grad_enabled(False)
RECORDED = ("direct", "graph", "graph with copies")


class OnGpu(unittest.TestCase):
    def setUp(self):
        torch._dynamo.reset()
        backend._said.clear()
        self.home = package.new_directory(self)
        self.cache_dir = str(self.home / "cache")
        torch.manual_seed(1)
        self.model, self.x = Block().eval().cuda(), torch.randn(32, 256, device="cuda")
        self.made = []
        original = backend._graph
        self.addCleanup(setattr, backend, "_graph", original)

        def remembered(*args):
            self.made.append(original(*args))
            return self.made[-1]

        backend._graph = remembered

    def compile(self, model=None, **options):
        return torch.compile(model or self.model, backend=backend.backend, options={"cache_dir": self.cache_dir, **options})

    def mode(self):
        return self.made[-1].mode[0]

    def assert_close(self, found, expected):
        torch.testing.assert_close(found, expected, rtol=1e-5, atol=1e-5)

    def warm(self, fast, make=lambda: torch.randn(32, 256, device="cuda")):
        """Calls on inputs that lie elsewhere each time, until calls are recorded."""
        kept = [make() for _ in range(4)]
        for x in kept:
            self.assert_close(fast(x), self.model(x))
        self.assertIn(self.mode(), RECORDED, self.made[-1].mode)
        return kept

    def test_calls_are_recorded_and_right_for_inputs_anywhere(self):
        fast = self.compile()
        self.assert_close(fast(self.x), self.model(self.x))
        self.assertEqual(self.mode(), "operators")
        self.assert_close(fast(self.x), self.model(self.x))
        self.assertIn(self.mode(), RECORDED, self.made[-1].mode)
        self.warm(fast)
        outputs = [fast(self.x + i) for i in range(4)]
        for i, found in enumerate(outputs):
            self.assert_close(found, self.model(self.x + i))
        print("mode:", self.made[-1].mode)
        wide = torch.randn(33 * 256 + 1, device="cuda")
        odd = wide[1 : 1 + 32 * 256].view(32, 256)
        self.assert_close(fast(odd), self.model(odd))
        self.assertEqual(self.mode(), "operators")
        self.assertEqual(backend._said, set(), "nothing fell back")

    def test_weights_are_read_in_each_call(self):
        fast = self.compile()
        self.warm(fast)
        self.model.up.weight.mul_(2)
        self.assert_close(fast(self.x), self.model(self.x))
        self.assertIn(self.mode(), RECORDED)
        self.model.up.weight.data = torch.randn_like(self.model.up.weight)
        for _ in range(3):
            self.assert_close(fast(self.x), self.model(self.x))
        self.assertIn(self.mode(), RECORDED)

    def test_streams_and_threads(self):
        fast = self.compile()
        self.warm(fast)
        expected = self.model(self.x)
        streams = [torch.cuda.Stream() for _ in range(3)]
        torch.cuda.synchronize()
        for i in range(60):
            with torch.cuda.stream(streams[i % 3]):
                x = self.x + i
                found, wanted = fast(x), self.model(x)
                if i % 10 == 0:
                    self.assert_close(found, wanted)
        torch.cuda.synchronize()
        self.assert_close(fast(self.x), expected)

        def one(i):
            with torch.no_grad(), torch.cuda.stream(torch.cuda.Stream()):
                x = torch.full((32, 256), i / 7, device="cuda")
                found, wanted = fast(x), self.model(x)
                torch.cuda.current_stream().synchronize()
                return found, wanted

        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            for found, wanted in pool.map(one, range(40)):
                self.assert_close(found, wanted)

    def test_inside_a_cuda_graph_of_the_user(self):
        fast = self.compile()
        self.warm(fast)
        graph, x = torch.cuda.CUDAGraph(), self.x.clone()
        with torch.cuda.graph(graph):
            y = fast(x)
        self.assertEqual(self.mode(), "operators")
        x.copy_(self.x + 1)
        graph.replay()
        self.assert_close(y, self.model(self.x + 1))

    def test_inputs_and_buffers_are_changed_in_place_as_by_eager(self):
        class Counts(nn.Module):
            def __init__(self):
                super().__init__()
                self.register_buffer("seen", torch.zeros(256))

            def forward(self, x):
                self.seen.add_(x.sum(0))
                x.mul_(2)
                return x + self.seen

        model = Counts().cuda()
        other = copy.deepcopy(model)
        fast = self.compile(model)
        for i in range(6):
            x, y = self.x + i, self.x + i
            self.assert_close(fast(x), other(y))
            self.assert_close(x, y)
            self.assert_close(model.seen, other.seen)
        print("mode:", self.made[-1].mode)

    def test_shapes_each_have_a_recording_and_memory_does_not_grow(self):
        fast = self.compile()
        for _ in range(4):
            for rows in (8, 16, 24):
                x = torch.randn(rows, 256, device="cuda")
                self.assert_close(fast(x), self.model(x))
        torch.cuda.synchronize()
        before = torch.cuda.memory_allocated()
        for _ in range(200):
            fast(self.x[:24])
        torch.cuda.synchronize()
        self.assertLess(torch.cuda.memory_allocated() - before, 8 << 20)

    def test_what_pytorch_puts_elsewhere_falls_back(self):
        def host(x):
            return x.sum().cpu() + 1, torch.arange(4) * 2

        with self.assertLogs("passnet") as said:
            found = self.compile(host)(self.x)
        self.assertRegex(said.output[0], "lies on cpu, and inputs on cuda:0")
        self.assertEqual([one.device.type for one in found], ["cpu", "cpu"])
        both = self.compile(lambda x, y: x + y.to(x.device))
        with self.assertLogs("passnet") as said:
            self.assert_close(both(self.x, self.x.cpu()), 2 * self.x)
        self.assertIn("inputs lie on cpu and cuda:0", said.output[0])

    def test_passes_are_written_used_and_refused_once_they_were_changed(self):
        report = passnet.tune(self.model, (self.x,), budget_s=20, cache_dir=self.cache_dir)
        print(report)
        self.assertEqual([row.status for row in report.rows], ["used"], report)
        fast = self.compile()
        self.warm(fast)
        self.assertGreater(self.made[-1].sites, 0)
        explained = passnet.explain(self.model, (self.x,), cache_dir=self.cache_dir)
        self.assertEqual([row.status for row in explained.rows], ["used"])
        form = trace_whole(self.model, (self.x,), form_as_run)
        self.assertEqual(form.device, torch.cuda.get_device_name())
        known, _ = cache.find(form, self.cache_dir)
        known.plan["kernels"][0][0]["sha256"] = "0" * 64
        with self.assertRaisesRegex(passnet.BadPass, "is not the object that was built for it"):
            backend._graph(form, known.plan["model"], known.plan)
        entry = next((self.home / "cache").glob("*/entry.json"))
        stored = json.loads(entry.read_text())
        entry.write_text(json.dumps({**stored, "device": "NVIDIA H100"}))
        self.assertIn("its passes are for device NVIDIA H100, found", passnet.explain(self.model, (self.x,), cache_dir=self.cache_dir).rows[0].why)

    def test_passes_from_elsewhere_are_used_on_trust(self):
        passes = package.SOURCE / "tests" / "python_api" / "add_relu"
        report = passnet.trust(self.model, (self.x,), passes, cache_dir=self.cache_dir)
        self.assertEqual([(row.status, row.passes) for row in report.rows], [("trusted", ("add_relu",))], report)
        fast = self.compile()
        self.warm(fast)
        self.assertEqual(self.made[-1].sites, 1)
        narrow = self.x[:16]
        self.assert_close(fast(narrow), self.model(narrow))

    def test_the_author_writes_passes_for_a_module_on_the_gpu(self):
        result = passnet.author(self.model, (self.x,), budget_s=20, device="cuda")
        self.assertTrue(result.correct)
        self.assertGreater(result.score, 1)


if __name__ == "__main__":
    main()
