"""The other commands: run, score, pass, and lists of samples.

Scores are read of a recorded run, whose times are given.
"""

import html
import json
import math
import pathlib
import shutil
import struct
import unittest

from passnet_case import KERNEL, PASS, QUICK, PassnetCase, take_one_processor
from recorded_run import RECORDED

take_one_processor()


def tensor_of(path, name):
    """A float32 tensor of a safetensors file, flat."""
    content = pathlib.Path(path).read_bytes()
    [size] = struct.unpack_from("<Q", content)
    entry = json.loads(content[8:8 + size])[name]
    first, last = entry["data_offsets"]
    assert entry["dtype"] == "F32"
    return struct.unpack(f"<{(last - first) // 4}f", content[8 + size + first:8 + size + last])


class Commands(PassnetCase):
    timing = QUICK

    def json_of(self, *arguments):
        done = self.passnet(*arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def test_run_takes_back_what_it_saved(self):
        graph, saved = self.sample / "graphs" / "small", self.root / "tensors.safetensors"
        replayed = self.json_of("run", graph, "--out", saved, "--json")
        self.assertEqual([output["name"] for output in replayed["outputs"]], ["out_0"])
        given = self.json_of("run", graph, "--inputs", saved, "--json")
        self.assertEqual(given["outputs"], replayed["outputs"])

    def test_run_executes_the_graph_that_passes_leave(self):
        graph, saved = self.sample / "graphs" / "small", self.root / "tensors.safetensors"
        plain = self.json_of("run", graph, "--json")
        self.assertEqual(self.json_of("run", graph, "--pass", self.sample, "--json")["outputs"], plain["outputs"])
        self.write_pass(kernel_source=KERNEL % "    out[i] = 7;")
        done = self.passnet("run", graph, "--pass", self.sample / "pass_dir" / "add_relu.py", "--out", saved)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stderr, "pass 'add_relu': 1 site replaced, 0 declined\n")
        self.assertEqual(set(tensor_of(saved, "out_0")), {7.0})
        self.write_pass(source=PASS.replace("relu(x + y)", "silu(x + y)"))
        missed = self.passnet("run", graph, "--pass", self.sample)
        self.assertEqual(missed.returncode, 3)
        self.assertIn("no pass matched this graph", missed.stderr)

    def test_check_dumps_what_it_compared(self):
        self.write_pass(kernel_source=KERNEL % "    out[i] = 7;")
        done = self.passnet("pass", "check", self.sample, "--out", self.root / "dump")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("2000 of 2000 elements are beyond t=-5: everywhere", done.stdout)
        files = self.root / "dump" / "sample" / "small"
        self.assertIn(f"  tensors: {files}\n", done.stdout)
        x, y, expected, found = (tensor_of(files / f"{file}.safetensors", name) for file, name in
                                 (("inputs", "in_0"), ("inputs", "in_1"), ("expected", "out_0"), ("found", "out_0")))
        self.assertEqual(set(found), {7.0})
        for a, b, sum_ in zip(x, y, expected):
            self.assertAlmostEqual(max(a + b, 0), sum_, places=5)
        self.write_pass(kernel_source=KERNEL % "    out[n + 100000] = 7;")
        self.assertEqual(self.passnet("pass", "check", self.sample, "--out", self.root / "dump").returncode, 1)
        self.assertEqual(sorted(path.name for path in files.iterdir()), ["expected.safetensors", "inputs.safetensors"])

    def test_show_writes_the_type_of_every_value_and_reads_it_back(self):
        graph = self.sample / "graphs" / "small"
        shown = self.passnet("graph", "show", "--shapes", graph)
        self.assertEqual(shown.returncode, 0, shown.stderr)
        types = self.json_of("graph", "show", "--shapes", "--json", graph)
        self.assertEqual(types["unknown"], 0)
        for name, value in types["values"].items():
            self.assertRegex(shown.stdout, rf"\b{name}\b.*# {value['dtype']}\[{', '.join(map(str, value['shape']))}\]")
        again = self.root / "again"
        again.mkdir()
        (again / "model.py").write_text(shown.stdout)
        self.assertEqual(self.json_of("graph", "check", "--json", again)["roundtrip"], 1)
        plain = self.passnet("graph", "show", graph).stdout
        self.assertEqual(self.passnet("graph", "show", again).stdout, plain)

    def test_dot_puts_shapes_on_edges(self):
        graph = self.sample / "graphs" / "small"
        self.assertIn("float32[40, 50]", self.passnet("graph", "dot", graph).stdout)
        alone = self.root / "alone"
        alone.mkdir()
        shutil.copy(graph / "model.py", alone)
        without = self.passnet("graph", "dot", alone)
        self.assertEqual(without.returncode, 0)
        self.assertNotIn("float32", without.stdout)

    def test_run_names_the_missing_input(self):
        graph, saved = self.sample / "graphs" / "small", self.root / "tensors.safetensors"
        self.json_of("run", graph, "--out", saved, "--json")
        for name in ("model.py", "weight_meta.py"):
            path = graph / name
            path.write_text(path.read_text().replace("in_1", "in_2"))
        done = self.passnet("run", graph, "--inputs", saved)
        self.assertEqual(done.returncode, 3)
        self.assertIn("has no tensor for argument 'in_2' of forward", done.stderr)

    def test_score_of_a_run_is_that_of_its_records(self):
        run = RECORDED / "three_graphs"
        written = json.loads((run / "sample" / "aggregated_score.json").read_text())
        scored = self.json_of("score", run, "--json")
        graphs = scored.pop("graphs")
        self.assertAlmostEqual(scored.pop("summary")["coverage"], 2 / 3)
        self.assertEqual((written.pop("records"), scored.pop("unchained")), (3, 0))
        self.assertRegex(written.pop("head"), r"^[0-9a-f]{64}$")
        self.assertEqual({**scored, "id": "sample"}, written)
        self.assertEqual([(graph["graph"], graph["verdict"]) for graph in graphs],
                         [("sample/small", "correct"), ("sample/graphs/float32/9/x_start1_end2_0", "correct"), ("sample/broken", "parse: failed")])
        speedups = [graph["speedup"] for graph in graphs]
        self.assertAlmostEqual(math.sqrt(speedups[0] * speedups[1]), written["geomean_speedup"], places=9)
        self.assertIsNone(speedups[2])
        self.assertRegex(self.passnet("score", run).stdout, r"(?m)^correct +2\.00x  sample/small$")

    def test_score_reads_the_log_beside_the_records(self):
        sample = RECORDED / "three_graphs" / "sample"
        from_records = self.json_of("score", sample / "records.jsonl", "--json")
        from_log = self.json_of("score", sample / "validation.log", "--json")
        self.assertAlmostEqual(from_log["score"], from_records["score"], places=4)

    def test_what_was_evaluated_lies_beside_the_records_and_in_the_report(self):
        listing = self.root / "list.txt"
        listing.write_text("# samples\nsample\n")
        done = self.evaluate("--json", sample=listing)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual([graph["graph"] for graph in json.loads(done.stdout)["graphs"]], ["small"])
        self.assertEqual(len(self.records()), 1)
        scored = self.json_of("score", self.out, "--json")
        written = json.loads((self.out / "sample" / "aggregated_score.json").read_text())
        self.assertEqual({key: scored[key] for key in written if key in scored and key != "id"},
                         {key: written[key] for key in written if key not in ("id", "records", "head")})
        graph = self.out / "sample" / "graphs" / "small"
        self.assertIn("relu", (graph / "before.py").read_text())
        self.assertNotIn("relu", (graph / "after.py").read_text())
        (launches,) = json.loads((graph / "launches.json").read_text())
        self.assertEqual(len(launches["launches"]), 1)
        passes = {path.name: path.read_text() for path in (self.sample / "pass_dir").iterdir() if path.suffix in (".py", ".cpp")}
        self.assertEqual({path.name: path.read_text() for path in (self.out / "sample" / "passes").iterdir()}, passes)
        text = (self.out / "report.html").read_text()
        self.assertTrue(text.startswith("<!DOCTYPE html>"))
        page = html.unescape(text)
        for shown in (*passes, "graph before", "graph after", "launches", (graph / "after.py").read_text()):
            self.assertIn(shown, page)
        # A graph that the passes do not match any more keeps no rewritten form.
        self.write_pass(source=PASS.replace("x + y", "x - y"))
        self.evaluate()
        self.assertEqual([path.name for path in graph.iterdir()], ["before.py"])

    def test_eager_against_itself_is_equal(self):
        record = self.only_record("--sides", "eager")
        self.assertEqual((record["stage"], record["outputs"][0]["equal"]), ("done", True))

    def test_template_is_a_right_pass(self):
        pass_dir = self.sample / "pass_dir"
        for path in pass_dir.iterdir():
            path.unlink()
        self.assertEqual(self.passnet("pass", "new", "fresh", pass_dir).returncode, 0)
        done = self.passnet("pass", "check", self.sample)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("sample/small: correct, 1 site replaced", done.stdout)
        again = self.passnet("pass", "new", "fresh", pass_dir)
        self.assertEqual(again.returncode, 3)
        self.assertIn("exists; nothing was written", again.stderr)

    def test_help_explains_terms_of_the_glossary(self):
        found = self.passnet("help", "a/a", "control")
        self.assertEqual((found.returncode, found.stdout),
                         (0, "A/A control: the same graph timed on both sides. Its speedup should be 1.\n"))
        missed = self.passnet("help", "declind")
        self.assertEqual(missed.returncode, 2)
        self.assertIn("'declind' is not in the glossary, did you mean 'declined'?", missed.stderr)

    def test_match_shows_the_sites_or_the_nearest_miss(self):
        found = self.passnet("pass", "match", self.sample, self.sample)
        self.assertEqual(found.returncode, 0)
        self.assertIn("1 match\n", found.stdout)
        self.write_pass(source=PASS.replace("x + y", "x - y"))
        missed = self.passnet("pass", "match", self.sample, self.sample)
        self.assertEqual(missed.returncode, 1)
        self.assertIn("nearest miss: 1 of 2 operators fit", missed.stdout)

    def test_device_that_is_not_there(self):
        for device in ("cuda:99", "cuda:x"):
            for command in (("eval", self.sample, "--out", self.out), ("run", self.sample / "graphs" / "small")):
                done = self.passnet(*command, "--device", device)
                self.assertEqual(done.returncode, 4 if device == "cuda:99" else 2, done.stderr)
                self.assertRegex(done.stderr, r"(?m)error: (no CUDA driver|the CUDA driver|PyTorch has no CUDA part|cuda:99 cannot be used|--device: .* found 'cuda:x')")
        self.assertEqual(self.passnet("eval", self.sample, "--jobs", 2).returncode, 2)


if __name__ == "__main__":
    unittest.main()
