"""`passnet author`: what it writes, leaves alone, explains, exports and says. Nothing here is about measured times."""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time
import unittest

SOURCE = pathlib.Path(os.environ["PASSNET_SOURCE_DIR"])
sys.path[:0] = [str(SOURCE / "tests" / "eval")]
from author_case import LIST, AuthorCase
from passnet_case import BINARY, take_one_processor

take_one_processor()


class Author(AuthorCase):
    def with_scans(self):
        """A sample of scans alone, which no pass is written for."""
        sample = self.root / "scans"
        shutil.copytree(self.sample / "graphs", sample / "graphs")
        for model in sample.rglob("model.py"):
            text = model.read_text().replace("in_0 + in_1", "torch.cumprod(in_0, 1)")
            model.write_text(text.replace("torch.nn.functional.relu(tmp_0, inplace = False)", "torch.cumprod(tmp_0, 0)"))
        return sample

    def test_leaves_alone_what_it_cannot_write(self):
        (report,) = self.author(self.with_scans(), "--write-only")
        self.assertIn("no kernel can be written for 'cumprod'", [left["why"] for left in report["left"]])

    def test_names_for_every_graph_why_it_is_left_alone(self):
        (report,) = self.author(self.with_scans())
        self.assertEqual(report["score"], 1)
        graphs = (self.root / "scans" / "graphs")
        self.assertEqual(len(report["alone"]), len(list(graphs.rglob("model.py"))))
        for why in report["alone"].values():
            self.assertRegex(why, r"^no pass was written, \d+ operators? (was|were) left: .*: no kernel can be written for 'cumprod'")

    def test_a_budget_that_is_used_up_evaluates_nothing(self):
        (report,) = self.author(self.sample, "--time-limit", "0.000001")
        self.assertEqual((report["score"], report["budget"]), (1, {"seconds": 1e-06, "ended": True}))
        self.assertEqual({one["why"] for one in report["passes"]}, {"the budget ended before it was proven"})
        self.assertEqual(json.loads((self.out / "sample" / "pass_dir" / LIST).read_text()), [])
        self.assertEqual((self.out / "sample" / "records.jsonl").read_text(), "")
        self.assertTrue(all("the budget ended" in why for why in report["alone"].values()))
        text = self.passnet("author", self.sample, "-o", self.out, "--time-limit", "0.000001").stdout
        self.assertIn("  the budget of 1e-06 s ended the search\n", text)

    def test_a_sample_of_more_graphs_has_more_time(self):
        graph = next(self.sample.rglob("model.py")).parent
        many = self.root / "many"
        for i in range(90):
            shutil.copytree(graph, many / "graphs" / f"graph_{i}")
        (many / "graph_list.txt").write_text("".join(f"graphs/graph_{i}\n" for i in range(90)))
        (report,) = self.author(many, "--time-limit", "0.000001")
        self.assertEqual(report["budget"], {"seconds": 1.5e-06, "ended": True})

    def test_explains_what_a_pass_is(self):
        sample = SOURCE / "samples" / "llama_rotary"
        (report,) = self.author(sample, "--write-only")
        text = self.passnet("author", sample, "-o", self.out, "--write-only", "--explain").stdout
        for one in report["passes"]:
            explained = one["explained"]
            self.assertEqual(len(explained["operators"]), one["operators"])
            self.assertEqual(len(explained["kernels"]), one["kernels"])
            stored = {value["value"] for value in explained["values"] if value["place"] == "stored"}
            self.assertEqual(stored, {name for kernel in explained["kernels"] for name in kernel["stores"]})
            self.assertIsNone(one["roofline"])
            for operator in explained["operators"]:
                self.assertIn(f"    {operator}\n", text)
        self.assertRegex(text, r"    (begins at inputs of the graph|begins at .*: .*)\n")
        self.assertRegex(text, r"    launches \d+ -> \d+, bytes read and written .* -> ")

    def test_stops_at_an_operator_without_a_kernel_and_says_so(self):
        sample = self.root / "between"
        shutil.copytree(self.sample / "graphs", sample / "graphs")
        for model in sample.rglob("model.py"):
            model.write_text(model.read_text().replace("in_0 + in_1", "torch.cumprod(in_0 + in_1, 1)"))
        (report,) = self.author(sample, "--write-only")
        after = [one["explained"]["after"] for one in report["passes"] if one["explained"]["after"]]
        self.assertIn("no kernel can be written for 'cumprod'", [one["why"] for one in after])

    def test_calls_pytorch_where_it_may_and_says_so(self):
        sample, exported = self.root / "between", self.root / "examples"
        shutil.copytree(self.sample / "graphs", sample / "graphs")
        for model in sample.rglob("model.py"):
            model.write_text(model.read_text().replace("in_0 + in_1", "(in_0 + in_1) @ in_1.T"))
        flags = (sample, "--write-only", "--allow-library")
        (report,) = self.author(*flags, "--export", exported)
        self.assertEqual((report["allow_library"], report["form"], report["left"]), (True, "with calls", []))
        (one,) = report["passes"]
        self.assertEqual((one["kernels"], len(one["library"]), one["launches"]["after"]), (2, 1, 3))
        self.assertEqual([call["why"] for call in one["explained"]["called"]], ["a product that libraries are faster at"])
        self.assertIn("PyTorch is called for `", (exported / "between.md").read_text())
        text = self.passnet("author", *flags, "-o", self.out, "--explain").stdout
        self.assertIn(f"  {one['pass']} (library): {one['operators']} operators in 2 kernels and 1 call of PyTorch, written", text)
        self.assertRegex(text, r"\n    calls .* @ .*: a product that libraries are faster at\n")
        # What was made with calls is made anew without them.
        (plain,) = self.author(sample, "--write-only", "--resume")
        self.assertEqual([pass_["library"] for pass_ in plain["passes"]], [[]])

    def test_writes_the_form_that_is_asked_for(self):
        flags = (self.sample, "--write-only")
        (report,) = self.author(*flags, "--form", "without products")
        self.assertEqual((report["form"], report["only_form"]), ("without products", "without products"))
        # What another call asked for is made anew.
        (report,) = self.author(*flags, "--resume")
        self.assertEqual((report["form"], report["only_form"]), ("products in tiles", None))
        done = self.passnet("author", *flags, "-o", self.out, "--form", "with calls")
        self.assertEqual(done.returncode, 3)
        self.assertIn("no form 'with calls' without a GPU without --allow-library, expected one of 'products in tiles', 'plain', 'stored once', 'without products'", done.stderr)

    def test_says_how_far_a_pass_reaches(self):
        twin = self.root / "twins" / "twin"
        shutil.copytree(self.sample / "graphs", twin / "graphs")
        (self.root / "twins" / "list.txt").write_text(f"{twin}\n{self.with_scans()}\n{self.sample}\n")
        (report,) = self.author(self.sample, "--write-only", "--reach", self.root / "twins" / "list.txt")
        graphs = len(list(twin.rglob("model.py")))
        for one in report["passes"]:
            reach = one["reach"]
            # Its own graphs are left out.
            self.assertEqual((reach["graphs"], reach["evaluated"]), (2 * graphs, 0))
            self.assertLessEqual(reach["matching"], graphs)
        self.assertGreater(sum(one["reach"]["matching"] for one in report["passes"]), 0)

    def test_exports_worked_examples(self):
        sample, exported = SOURCE / "samples" / "gpt2_gelu", self.root / "examples"
        (report,) = self.author(sample, "--write-only", "--export", exported)
        text = (exported / "gpt2_gelu.md").read_text()
        self.assertTrue(text.startswith("# Worked example: gpt2_gelu\n"))
        for one in report["passes"]:
            self.assertIn(f"- `{one['pass']}`: not measured\n", text)
            self.assertIn((self.out / "gpt2_gelu" / "pass_dir" / f"{one['pass']}.cu").read_text(), text)
        (line,) = (exported / "examples.jsonl").read_text().splitlines()
        messages = json.loads(line)["messages"]
        self.assertEqual([one["role"] for one in messages], ["system", "user", "assistant"])
        self.assertIn("def forward(", messages[1]["content"])
        self.assertIn(LIST, messages[2]["content"])
        self.assertNotIn("{{", messages[0]["content"] + messages[1]["content"])
        # With nothing to export what an earlier call left is gone.
        self.author(self.with_scans(), "--write-only", "--export", exported)
        self.assertEqual((exported / "examples.jsonl").read_text(), "")

    def test_interrupt_ends_within_the_graph_and_keeps_finished_samples(self):
        # The first needs no evaluation; all of the others would take far longer than it takes to be interrupted.
        copies = [self.out.parent / f"copy_{i}" for i in range(50)]
        for copy in copies:
            shutil.copytree(self.sample, copy)
        command = [str(BINARY), "author", str(self.with_scans()), *map(str, copies), "-o", str(self.out)]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, stdin=subprocess.DEVNULL)
        self.addCleanup(process.kill)
        kernels = self.out / "copy_0" / "pass_dir" / LIST
        deadline = time.monotonic() + 60
        while not kernels.exists():
            self.assertLess(time.monotonic(), deadline, "the second sample was not begun")
            time.sleep(0.05)
        process.send_signal(signal.SIGTERM)
        _, errors = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130, errors)
        self.assertIn(f"interrupted: finished samples are kept in '{self.out}'; go on with --resume\n", errors)
        self.assertTrue((self.out / "scans" / "author.json").exists())
        self.assertFalse((self.out / copies[-1].name / "author.json").exists())

    def test_sums_several_samples_up(self):
        text = self.passnet("author", self.sample, self.with_scans(), "-o", self.out, "--write-only").stdout
        self.assertRegex(text, r"\n2 samples, 1 without a pass; \d+ of \d+ written passes kept; \d+\.\d s a sample\n")
        self.assertIn("left: no kernel can be written for 'cumprod'", text)
        self.assertNotIn("geometric mean", text)


if __name__ == "__main__":
    unittest.main(verbosity=2)
