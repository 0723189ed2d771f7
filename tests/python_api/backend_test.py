"""torch.compile(model, backend="passnet") against eager: without passes, with passes, and where it falls back."""

import concurrent.futures
import gc
import json
import logging
import pathlib
import resource
import unittest

import package
import torch
from torch import nn

import passnet
from passnet import backend, cache, tuning
from passnet.tracing import trace_whole


class Block(nn.Module):
    def __init__(self, width=64):
        super().__init__()
        self.norm, self.up, self.down = nn.LayerNorm(width), nn.Linear(width, 2 * width), nn.Linear(2 * width, width)
        self.scale = torch.full((width,), 0.5)

    def forward(self, x):
        return torch.relu(x + self.scale * self.down(nn.functional.gelu(self.up(self.norm(x)))))


PASSES = pathlib.Path(__file__).parent / "add_relu"  # relu(x + y) as one kernel


class Backend(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        torch.manual_seed(1)
        cls.model, cls.x = Block().eval(), torch.randn(16, 64)
        with torch.no_grad():
            cls.eager = cls.model(cls.x)

    def setUp(self):
        torch._dynamo.reset()
        backend._said.clear()
        self.home = package.new_directory(self)
        self.cache_dir = str(self.home / "cache")

    def compile(self, model=None, **options):
        return torch.compile(model or self.model, backend=backend.backend, options={"cache_dir": self.cache_dir, **options})

    def assert_close(self, found, expected):
        torch.testing.assert_close(found, expected, rtol=1e-5, atol=1e-5)

    @torch.no_grad()
    def test_an_unknown_graph_runs_without_passes(self):
        self.assert_close(self.compile()(self.x), self.eager)
        report = passnet.explain(self.model, (self.x,), cache_dir=self.cache_dir)
        self.assertEqual([(row.status, row.why) for row in report.rows], [("unknown", "no passes are known for it; passnet.tune(model, args) writes them")])
        self.assertIn("unknown", repr(report))
        self.assertIn("<td>unknown</td>", report._repr_html_())

    @torch.no_grad()
    def test_passes_are_used_from_the_next_call_on_and_never_once_they_were_changed(self):
        fast = self.compile()
        self.assert_close(fast(self.x), self.eager)
        report = passnet.trust(self.model, (self.x,), PASSES, cache_dir=self.cache_dir)
        self.assertEqual([(row.status, row.passes) for row in report.rows], [("trusted", ("add_relu",))])
        self.assert_close(fast(self.x), self.eager)
        other = torch.randn(16, 64)
        self.assert_close(fast(other), self.model(other))
        self.assertEqual(backend._said, set(), "nothing fell back")
        known, _ = cache.find(trace_whole(self.model, (self.x,)), self.cache_dir)
        self.assertEqual(backend._graph(trace_whole(self.model, (self.x,)), known.plan["model"], known.plan).sites, 1)
        explained = passnet.explain(self.model, (self.x,), cache_dir=self.cache_dir)
        self.assertEqual([row.status for row in explained.rows], ["trusted"])

        entry = next((self.home / "cache").glob("*/entry.json"))
        plan = json.loads(entry.read_text())["entry"]["plan"]
        self.assertIn("passnet.fused(0", plan["model"])
        kernel = next(entry.parent.glob("pass_dir/*.cpp"))
        text = kernel.read_text()
        kernel.write_text(text + "\n")
        self.assertIn("are not those that were judged", passnet.explain(self.model, (self.x,), cache_dir=self.cache_dir).rows[0].why)
        kernel.write_text(text)

        stored = json.loads(entry.read_text())
        stored["torch"] = "2.10.0"
        entry.write_text(json.dumps(stored))
        self.assertIn("its passes are for torch 2.10.0, found", passnet.explain(self.model, (self.x,), cache_dir=self.cache_dir).rows[0].why)

        stored["torch"] = torch.__version__
        stored["entry"]["plan"]["kernels"][0][0]["sha256"] = "0" * 64
        entry.write_text(json.dumps(stored))
        torch._dynamo.reset()
        with self.assertLogs("passnet", logging.WARNING) as said:
            self.assert_close(self.compile()(self.x), self.eager)
        self.assertIn("is not the object that was built for it", said.output[0])

    @torch.no_grad()
    def test_a_cache_that_others_can_write_to_is_refused(self):
        (self.home / "cache").mkdir()
        (self.home / "cache").chmod(0o777)
        with self.assertLogs("passnet", logging.WARNING) as said:
            self.assert_close(self.compile()(self.x), self.eager)
        self.assertIn("can be written to by others", said.output[0])

    def test_gradients_fall_back_and_are_said_once(self):
        with self.assertLogs("passnet", logging.WARNING) as said:
            fast = self.compile()
            fast(self.x).sum().backward()
            torch._dynamo.reset()
            self.compile()(self.x)
        self.assertEqual(len(said.output), 1)
        self.assertIn("inputs or parameters require gradients", said.output[0])
        self.model.zero_grad()

    @torch.no_grad()
    def test_what_has_no_form_falls_back(self):
        def turn(x):
            return x.to(torch.complex64) * 1j

        with self.assertLogs("passnet", logging.WARNING) as said:
            torch.testing.assert_close(self.compile(turn)(self.x), turn(self.x))
        self.assertIn("a graph runs by eager: found the constant 1j in the graph", said.output[0])

    @torch.no_grad()
    def test_data_dependent_control_flow_runs_in_pieces(self):
        def choose(x):
            y = x * 2
            return y + 1 if y.sum() > 0 else y - 1

        for x in (torch.ones(3), -torch.ones(3)):
            torch.testing.assert_close(self.compile(choose)(x), choose(x))

    @torch.no_grad()
    def test_sizes_change_without_recompiling(self):
        count = 0
        original = backend.Compiled.__init__

        def counted(made, *args):
            nonlocal count
            count += 1
            original(made, *args)

        self.addCleanup(setattr, backend.Compiled, "__init__", original)
        backend.Compiled.__init__ = counted
        fast = torch.compile(lambda x: (self.model(x).reshape(x.shape[0], -1) * x.shape[0]).sum(-1), backend=backend.backend, dynamic=True,
                             options={"cache_dir": self.cache_dir})  # fmt: skip
        for rows in (3, 5, 16, 7):
            x = torch.randn(rows, 64)
            self.assert_close(fast(x), (self.model(x) * rows).sum(-1))
        self.assertEqual(count, 1)

    @torch.no_grad()
    def test_a_graph_of_several_sizes_uses_the_passes_of_each(self):
        def add_relu(x, y):
            return torch.relu(x + y)

        made = []
        original = backend._graph
        self.addCleanup(setattr, backend, "_graph", original)
        backend._graph = lambda *args: made.append(original(*args)) or made[-1]
        for rows in (16, 8):
            passnet.trust(add_relu, (torch.ones(rows, 64), torch.ones(rows, 64)), PASSES, cache_dir=self.cache_dir)
        fast = torch.compile(add_relu, backend=backend.backend, dynamic=True, options={"cache_dir": self.cache_dir})
        for rows in (16, 8, 5, 16, 8, 5):
            x, y = torch.randn(rows, 64), torch.randn(rows, 64)
            self.assert_close(fast(x, y), add_relu(x, y))
        self.assertEqual([graph.sites for graph in made], [0, 1, 1], "no passes; those of 16 rows; those of 8")
        self.assertEqual(backend._said, set())

    @torch.no_grad()
    def test_threads_share_a_compiled_model(self):
        fast = self.compile()
        fast(self.x)
        inputs = [torch.randn(16, 64) for _ in range(32)]
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            found = list(pool.map(torch.no_grad()(fast), inputs))
        for x, y in zip(inputs, found):
            self.assert_close(y, self.model(x))

    @torch.no_grad()
    def test_inputs_are_changed_in_place_as_by_eager(self):
        def change(x):
            x.mul_(2)
            return x + 1, 3

        x, y = torch.ones(4), torch.ones(4)
        self.assertEqual(str(self.compile(change)(x)), str(change(y)))
        self.assertTrue(torch.equal(x, y))

    def test_autograd_learns_what_a_call_wrote(self):
        @torch.no_grad()
        def change(x):
            x.mul_(10)

        @torch.no_grad()
        def flat(x):
            return x.view(-1)

        for write in (self.compile(change), lambda x: self.compile(flat)(x).mul_(10)):
            x, weight = torch.ones(3), torch.ones(3, requires_grad=True)
            loss = (weight * x).sum()  # keeps x
            write(x)
            with self.assertRaisesRegex(RuntimeError, "modified by an inplace operation"):
                loss.backward()

    @torch.no_grad()
    def test_gradients_inside_of_a_model_fall_back(self):
        def energy(x, weight):
            with torch.enable_grad():
                return (x * weight).sum()

        weight = nn.Parameter(torch.ones(64))
        with self.assertLogs("passnet", logging.WARNING) as said:
            self.assertTrue(self.compile(energy)(self.x, weight).requires_grad)
        self.assertIn("'mul' requires gradients, as the model turns them on", said.output[0])

    @torch.no_grad()
    def test_a_refused_operator_raises_what_pytorch_raises(self):
        def look_up(x, at):
            return x[at]

        def double_and_look_up(x, at):
            return x.mul_(2)[at]

        fast = self.compile(look_up)
        fast(self.x, torch.tensor([1]))
        with self.assertRaisesRegex(IndexError, "index 77 is out of bounds"):
            fast(self.x, torch.tensor([77]))
        x = torch.ones(4)
        with self.assertRaisesRegex(RuntimeError, "index 77 is out of bounds"):  # PyTorch would double once more
            self.compile(double_and_look_up)(x, torch.tensor([77]))
        self.assertEqual(x.tolist(), [2] * 4)

    @torch.no_grad()
    def test_inductor_runs_graphs_whose_sizes_change(self):
        fast = self.compile(lambda x: x.softmax(1) + x.shape[0], otherwise="inductor")
        for rows in (4, 3):
            x = torch.randn(rows, 5)
            self.assert_close(fast(x), x.softmax(1) + rows)

    @torch.no_grad()
    def test_an_operator_that_refuses_raises_and_leaves_the_model_usable(self):
        table = nn.Embedding(4, 8)
        fast = self.compile(table)
        fast(torch.tensor([1, 2]))
        with self.assertRaisesRegex(IndexError, "index out of range"):
            fast(torch.tensor([1, 7]))
        self.assert_close(fast(torch.tensor([3, 0])), table(torch.tensor([3, 0])))

    def test_wrong_options_are_named(self):
        with self.assertRaisesRegex(passnet.BadInput, "option 'mod' is not known"):
            backend.Options.read({"mod": "cached"})
        with self.assertRaisesRegex(passnet.BadInput, "option mode='fast': expected 'cached' or 'tune' or 'dryrun'"):
            backend.Options.read({"mode": "fast"})
        for wrong in ("a", -3, float("nan")):
            with self.assertRaisesRegex(passnet.BadInput, f"budget_s={wrong!r}: expected a number of seconds above 0"):
                backend.Options.read({"budget_s": wrong})

    @torch.no_grad()
    def test_outputs_are_ordinary_tensors_of_the_caller(self):
        fast = self.compile()
        first, second = fast(self.x), fast(self.x + 1)
        self.assertFalse(first.is_inference())
        self.assertNotEqual(first.data_ptr(), second.data_ptr())
        with torch.enable_grad():
            weight = torch.ones(64, requires_grad=True)
            (first * weight).sum().backward()
        self.assert_close(weight.grad, self.eager.sum(0))

    @torch.no_grad()
    def test_calls_on_the_cpu_use_memory_again(self):
        fast, x = self.compile(lambda x: ((x + 1).sin() * 2).cos()), torch.randn(512, 4096)
        for _ in range(3):
            fast(x)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
        for _ in range(5):
            fast(x)
        pages = resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before
        self.assertLess(pages, x.nbytes // resource.getpagesize(), "less than one tensor touched new pages in five calls of four")

    @torch.no_grad()
    def test_results_stay_whatever_comes_after(self):
        fast = self.compile()
        kept = fast(self.x)
        other = fast(self.x + 1)
        other.resize_(1000, 1000).fill_(1)  # larger than its memory
        del fast, other
        torch._dynamo.reset()
        gc.collect()
        self.assert_close(kept, self.eager)
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            pool.submit(kept.resize_, 0).result()

    @torch.no_grad()
    def test_memory_of_convolutions_is_freed_as_it_was_taken(self):
        """oneDNN frees by the address alone what it has taken in calls and between them."""
        convolution, x = nn.Sequential(nn.Conv2d(8, 16, 3), nn.ReLU(), nn.Conv2d(16, 16, 3)).eval(), torch.randn(2, 8, 16, 16)
        expected = convolution(x)
        fast = self.compile(convolution)
        for _ in range(3):
            torch.testing.assert_close(fast(x), expected, rtol=1e-4, atol=1e-4)
            self.assertTrue(torch.equal(convolution(x), expected))
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            for found in pool.map(torch.no_grad()(lambda turn: (fast, convolution)[turn % 2](x)), range(32)):
                torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-4)


class Cache(unittest.TestCase):
    def test_a_cache_that_cannot_be_read_stops_no_model(self):
        def double(x):
            return x * 2

        x, home = torch.randn(4), package.new_directory(self)
        (home / "file").write_text("")
        form = trace_whole(double, (x,))
        broken = cache.store(form, cache.Entry("declined", "none"), None, None, home / "damaged") / "entry.json"
        for cache_dir, text, said in (
            (home / "file" / "inside", "", "cannot be made: Not a directory"),
            (home / "damaged", "", "is damaged"),
            (home / "damaged", "[]", "is damaged"),
            (home / "damaged", json.dumps({**cache.facts_of(form), "entry": {"later": 1}}), "is damaged"),
        ):
            broken.write_text(text)
            torch._dynamo.reset()
            backend._said.clear()
            with torch.no_grad():
                fast = torch.compile(double, backend=backend.backend, options={"cache_dir": str(cache_dir)})
                self.assertTrue(torch.equal(fast(x), 2 * x))
            self.assertIn(said, "".join(backend._said))

    def test_writers_and_readers_wait_for_each_other(self):
        """Entries of one graph are replaced by two threads, and a third always finds one."""
        form, home = trace_whole(torch.relu, (torch.ones(3),)), package.new_directory(self)

        def store():
            for _ in range(20):
                cache.store(form, cache.Entry("declined", "none"), PASSES, None, home)

        store()
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            writers = [pool.submit(store) for _ in range(2)]
            while not all(one.done() for one in writers):
                self.assertEqual(cache.find(form, home)[1], "")
            for one in writers:
                one.result()

    def test_entries_say_what_they_hold_for(self):
        form = trace_whole(Block().eval(), (torch.randn(2, 64),))
        facts = cache.facts_of(form)
        self.assertEqual(facts["torch"], torch.__version__)
        self.assertIn("torch.float32 cpu [2, 64] [64, 1]", facts["inputs"])
        wider = trace_whole(Block().eval(), (torch.randn(3, 64),))
        self.assertEqual(wider.identity, form.identity)
        self.assertNotEqual(wider.key(), form.key())

    def test_what_the_author_kept_becomes_an_entry(self):
        run = package.SOURCE / "tests" / "data" / "runs" / "three_graphs"
        passes = [{"pass": "fused", "kept": True, "why": ""}, {"pass": "other", "kept": False, "why": "0.96x"}]
        report = {"passes": passes, "alone": {}, "precision": {"error": 1e-7, "of_eager": 2e-7}}
        entry = tuning._judged(report, run)
        self.assertEqual((entry.status, entry.passes, entry.ratio, entry.error), ("used", ["fused"], 2.0, 1e-7))
        self.assertLess(entry.interval[0], 2.0)
        declined = tuning._judged({**report, "passes": passes[1:]}, run)
        self.assertEqual((declined.status, declined.why), ("declined", "other: 0.96x"))


if __name__ == "__main__":
    unittest.main(verbosity=2)
