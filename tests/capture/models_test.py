"""Toy models become graph directories that our reader takes, or a cause: as a worker of `passnet dataset capture` answers."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

try:
    import torch  # noqa: F401
except ImportError:
    print("skipped: no PyTorch in", sys.executable)
    sys.exit(77)

SOURCE = pathlib.Path(os.environ["PASSNET_SOURCE_DIR"])
PASSNET = pathlib.Path(os.environ.get("PASSNET_BINARY_DIR", "")) / "bin" / "passnet"
sys.path.insert(0, str(SOURCE / "python"))
from passnet_capture.causes import CAUSES
from passnet_capture.one_model import Entry
from passnet_capture.serve import Server

TOYS = SOURCE / "tests" / "capture" / "toy_models.py"
FILES = ["graph_hash.txt", "graph_net.json", "input_meta.py", "input_tensor_constraints.py", "model.py", "weight_meta.py"]
silent_peer, _ours = os.pipe()
server = Server(silent_peer)
skipped_reader_checks = 0


class Case(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.out = pathlib.Path(holder.name)

    def capture(self, function, seconds=60.0, memory_gb=2.0):
        """Asks a worker in this process, which has PyTorch loaded already. Returns the model's entry."""
        opened = server.answer({"do": "source", "from": f"{TOYS}:{function}"})
        self.assertEqual((opened["source"], opened["models"]), ("file", [f"toy_models:{function}"]))
        reply = server.answer({"do": "capture", "model": f"toy_models:{function}", "out": str(self.out), "directory": f"file/toy_models_{function}",
                               "shapes": 2, "seconds": seconds, "memory_bytes": int(memory_gb * (1 << 30))})  # fmt: skip
        self.assertEqual(list((self.out / ".partial").iterdir()), [])
        return Entry(**reply["entry"])

    def facts(self, graph):
        return json.loads((self.out / graph / "graph_net.json").read_text())

    def check_graphs(self, entry):
        """Every file is there, and our reader takes them and makes the same hash."""
        global skipped_reader_checks
        for graph in entry.graphs:
            self.assertEqual(sorted(path.name for path in (self.out / graph).iterdir()), FILES)
        if not PASSNET.exists():
            skipped_reader_checks += 1
            return
        check = subprocess.run([PASSNET, "graph", "check", "--json", self.out], capture_output=True, text=True)
        self.assertEqual(check.returncode, 0, check.stdout + check.stderr)
        counts = json.loads(check.stdout)
        self.assertEqual((counts["graphs"], counts["hash_equal"]), (len(entry.graphs), len(entry.graphs)), check.stdout)


class Captured(Case):
    def test_model_with_two_shapes(self):
        entry = self.capture("two_shapes")
        self.assertEqual(entry.graphs, ["file/toy_models_two_shapes/b2", "file/toy_models_two_shapes/b5"])
        self.assertEqual(entry.shapes, {"b2": "captured", "b5": "captured"})
        self.check_graphs(entry)
        facts = self.facts(entry.graphs[1])
        self.assertEqual(facts["input_shapes"], {"x": [5, 8]})
        self.assertEqual((facts["shape"], facts["training"], facts["statistics"]), ("b5", False, "measured"))
        self.assertNotIn("break", facts)
        self.assertIn("S0: 5", (self.out / entry.graphs[1] / "input_tensor_constraints.py").read_text())
        meta = (self.out / entry.graphs[0] / "weight_meta.py").read_text()
        self.assertIn("    max_val = 99\n    min_val = 0\n", meta)

    def test_captured_model_computes_what_the_model_computes(self):
        import torch

        sys.path.insert(0, str(TOYS.parent))
        from passnet_capture.capture import capture
        from passnet_capture.graph_text import model_text
        from toy_models import plain

        model, arguments = plain()
        model.eval()
        full = capture(model, arguments, run=False)
        scope = {}
        exec(model_text(full.module.graph), scope)
        for found, expected in zip(scope["GraphModule"]()(*full.inputs), model(**arguments)):
            self.assertTrue(torch.equal(found, expected))

    def test_shape_that_does_not_run_is_dropped(self):
        entry = self.capture("one_shape_fails")
        self.assertEqual(entry.graphs, ["file/toy_models_one_shape_fails/b2"])
        self.assertRegex(entry.shapes["wide"], r"^inputs: RuntimeError: mat1 and mat2 shapes cannot be multiplied .*called with x \[2, 9\]\)$")

    def test_graph_break_gives_all_pieces(self):
        entry = self.capture("graph_break")
        self.assertEqual(entry.graphs, [f"file/toy_models_graph_break/default/subgraph_{i}" for i in range(2)])
        self.check_graphs(entry)
        first, second = (self.facts(graph)["break"] for graph in entry.graphs)
        self.assertEqual((first["index"], first["total"], second["index"], second["reason"]), (0, 2, 1, None))
        self.assertIn("graph_break", first["reason"])

    def test_autocast_is_kept(self):
        entry = self.capture("autocast")
        self.check_graphs(entry)
        text = (self.out / entry.graphs[0] / "model.py").read_text()
        self.assertIn("torch.amp.autocast_mode._enter_autocast('cpu', torch.bfloat16", text)
        self.assertIn("torch.amp.autocast_mode._exit_autocast(", text)

    def test_infinity_and_device_are_imported(self):
        entry = self.capture("infinite")
        self.check_graphs(entry)
        text = (self.out / entry.graphs[0] / "model.py").read_text()
        self.assertTrue(text.startswith("import torch\nfrom torch import device\nfrom torch import inf\n"), text[:80])

    def test_model_larger_than_memory_has_assumed_statistics(self):
        entry = self.capture("wide", memory_gb=0.7)
        self.check_graphs(entry)
        self.assertEqual(self.facts(entry.graphs[0])["statistics"], "assumed")
        meta = (self.out / entry.graphs[0] / "weight_meta.py").read_text()
        self.assertIn("    shape = [16384, 8192]\n    dtype = \"torch.float32\"\n    device = \"cpu\"\n    mean = 0\n    std = 0.02\n", meta)
        self.assertIn("    shape = [8192]\n    dtype = \"torch.float32\"\n    device = \"cpu\"\n    mean = 99.38", meta)  # the buffer's own
        without = self.capture("plain")
        self.assertLess(entry.peak_mb, without.peak_mb + 200)


    def test_parameter_larger_than_memory_gets_no_memory(self):
        entry = self.capture("experts", memory_gb=1.0)
        self.check_graphs(entry)
        self.assertEqual(self.facts(entry.graphs[0])["statistics"], "assumed")
        self.assertLess(entry.peak_mb, self.capture("plain").peak_mb + 200)


class Failed(Case):
    def check(self, function, cause, message, **limits):
        entry = self.capture(function, **limits)
        self.assertEqual((entry.status, entry.cause), ("failed", cause), entry.message)
        self.assertRegex(entry.message, message)
        self.assertEqual(entry.graphs, [])
        self.assertFalse((self.out / "file").exists())

    def test_every_cause_has_its_meaning(self):
        command, page = ((SOURCE / name).read_text() for name in ("apps/passnet_dataset/capture.cpp", "docs/dataset.md"))
        for cause in CAUSES:
            self.assertIn(f'{{"{cause}", "', command)
            self.assertRegex(page, rf"\| (`\S+`, )?`{cause}`")

    def test_constructor(self):
        self.check("constructor", "constructor", "^ValueError: found 3 heads, expected 4$")

    def test_function_that_returns_no_pair(self):
        self.check("no_pair", "constructor", "^found Linear from no_pair")

    def test_needs_download(self):
        self.check("needs_download", "needs-download", "^OSError: We couldn't connect to")

    def test_inputs(self):
        self.check("inputs", "inputs", r"^RuntimeError: mat1 and mat2 .*called with x \[2, 9\]")

    def test_trace(self):
        self.check("trace", "trace", "this operator has no shape rule|RuntimeError")

    def test_graph_break_only(self):
        self.check("graph_break_only", "graph-break-only", "disable")

    def test_data_dependent(self):
        self.check("data_dependent", "data-dependent", "(?i)data.dependent")

    def test_unsupported(self):
        self.check("unsupported", "unsupported", "^found the attribute 'cond_true_0' .* nested graphs have no form in model.py$")

    def test_an_operator_of_another_library_is_named(self):
        for model in ("custom_operator", "custom_overload"):
            self.check(model, "unsupported", "^found the operator 'toys::twice' in the graph, expected those of PyTorch")

    def test_no_graph(self):
        self.check("no_graph", "no-graph", "found no operator, expected a graph|without operators")

    def test_timeout(self):
        self.check("timeout", "timeout", "^found it running after 1 s, expected less; raise --timeout$", seconds=1.0)

    def test_memory(self):
        self.check("memory", "memory", "raise --memory-gb$")
        self.check("large_buffer", "memory", "^found MemoryError: buffer table of 4096 MiB .* raise --memory-gb$", memory_gb=1.0)
        self.check("hungry", "memory", "raise --memory-gb$", memory_gb=0.3)

    def test_what_the_system_kills_ran_out_of_memory(self):
        self.check("killed", "memory", "^the system killed the process at [0-9]+ MiB, as it does where this machine has no memory left")

    def test_crash(self):
        self.check("crash", "crash", "^the process ended with SIGABRT: ")

    def test_too_large(self):
        self.check("too_large", "too-large", "^found a graph break .* raise --memory-gb$", memory_gb=0.7)

    def test_function_that_is_not_there(self):
        self.check("nothing", "not-found", "^found no function 'nothing' in toy_models.py, expected one that returns")

    def test_peer_that_is_gone_gets_no_answer(self):
        read, write = os.pipe()
        os.close(write)
        lonely = Server(read)
        lonely.answer({"do": "source", "from": f"{TOYS}:timeout"})
        self.assertIsNone(lonely.answer({"do": "capture", "model": "toy_models:timeout", "out": str(self.out), "directory": "x", "shapes": 1,
                                         "seconds": 60, "memory_bytes": 1 << 30}))  # fmt: skip


class Again(Case):
    def test_capturing_again_replaces_the_graphs(self):
        entry = self.capture("plain")
        stale = self.out / entry.graphs[0] / "stale"
        stale.write_text("")
        self.capture("plain")
        self.assertFalse(stale.exists())


class Sources(unittest.TestCase):
    def test_source_that_is_not_there(self):
        for source, message in (("hub", "found 'hub', expected timm, torchvision, transformers or FILE.py:function"),
                                ("no.py:f", "found no file 'no.py', expected FILE.py:function")):  # fmt: skip
            self.assertEqual(server.answer({"do": "source", "from": source}),
                             {"ok": False, "kind": "bad-input", "error": message, "hint": "", "at": {"file": "--from", "line": 0, "column": 0}})  # fmt: skip

    def test_a_transformer_is_called_at_its_own_size(self):
        # Its trained weights are for another one.
        try:
            from passnet_capture.sources.from_torchvision import TorchvisionSource
        except ImportError as missing:
            self.skipTest(str(missing))
        with torch.device("meta"):
            plan = TorchvisionSource().plan("vit_h_14", 1)
        self.assertEqual([shape.tag for slot in plan.slots for shape in slot], ["b1_r224"])

    def test_a_misspelt_source_is_answered_with_the_nearest(self):
        self.assertEqual(server.answer({"do": "source", "from": "torchvison"})["hint"], "did you mean 'torchvision'?")


if __name__ == "__main__":
    outcome = unittest.main(exit=False).result
    if skipped_reader_checks:
        print(f"{skipped_reader_checks} checks with our reader skipped: found no {PASSNET}")
    sys.exit(not outcome.wasSuccessful())
