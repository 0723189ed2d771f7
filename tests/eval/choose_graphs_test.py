"""Tests how commands choose graphs, and their messages for a wrong name or number."""

import subprocess
import unittest

from passnet_case import BINARY, MODEL, QUICK, PassnetCase, take_one_processor

take_one_processor()


class ChooseGraphs(PassnetCase):
    timing = QUICK

    def setUp(self):
        super().setUp()
        self.write_sample(["small", "large", "other"])
        self.graphs = self.sample / "graphs"

    def evaluated(self, *arguments, **options):
        done = self.evaluate(*arguments, **options)
        self.assertEqual(done.returncode, 0, done.stderr)
        return [record["graph"] for record in self.records()]

    def test_a_graph_stands_for_its_sample_with_it_alone(self):
        self.assertEqual(self.evaluated(sample=self.graphs / "small"), ["small"])
        done = self.passnet("eval", "graphs/other", "graphs/small/model.py", "--out", self.out, "--force", *QUICK, cwd=self.sample)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual([record["graph"] for record in self.records()], ["small", "other"])
        self.assertEqual([record["provenance"]["sample_path"] for record in self.records()], [str(self.sample)] * 2)

    def test_filter_chooses_and_resume_keeps_the_others(self):
        self.assertEqual(self.evaluated("--filter", "sample/l"), ["large"])
        first = self.records()[0]
        self.assertEqual(self.evaluated("--filter", "small", "--resume"), ["large", "small"])
        self.assertEqual(self.records()[0], first)
        # A record that no longer stands stays as long as its graph is not asked for.
        self.assertEqual(self.evaluated("--filter", "small", "--resume", "--trials", "3"), ["large", "small"])
        self.assertEqual(self.records()[0], first)
        done = self.passnet("verify", self.out)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_filter_that_fits_nothing(self):
        done = self.evaluate("--filter", "huge")
        self.assertEqual((done.returncode, done.stderr),
                         (3, "error: no graph's SAMPLE/GRAPH holds 'huge'\nhint: --filter takes a part of it, as in 'gelu/b1_float32'\n"))

    def test_match_takes_the_graphs_of_the_sample(self):
        done = self.passnet("pass", "match", self.sample)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("3 of 3 match", done.stdout)
        done = self.passnet("pass", "match", self.sample / "pass_dir")
        self.assertEqual(done.returncode, 2)
        self.assertIn("GRAPH is required", done.stderr)

    def test_a_sample_without_passes(self):
        (self.sample / "pass_dir").rename(self.sample / "elsewhere")
        done = self.passnet("pass", "check", self.sample)
        self.assertEqual((done.returncode, done.stderr),
                         (3, f"error: sample '{self.sample}' has no pass_dir\n"
                             f"hint: 'passnet pass new NAME {self.sample}/pass_dir --from {self.sample}' begins one\n"))

    def test_a_python_file_is_no_list(self):
        (self.root / "models.py").write_text("import torch\n")
        done = self.passnet("eval", self.root / "models.py")
        self.assertEqual(done.returncode, 3)
        self.assertIn("models.py' is a Python file, expected a sample directory", done.stderr)

    def test_devices(self):
        for given, meant in (("gpu", "; did you mean 'cuda'?"), ("gpu:1", "; did you mean 'cuda:1'?"), ("cud", "; did you mean 'cuda'?"),
                             ("cuda:x", ""), ("", "")):
            done = self.passnet("eval", self.sample, "--device", given)
            self.assertEqual(done.returncode, 2, given)
            self.assertIn(f"--device: expected cpu, cuda or cuda:N, found '{given}'{meant}\n", done.stderr)

    def test_nodes_have_numbers_and_names_that_cut_takes(self):
        graph = self.graphs / "small"
        (graph / "model.py").write_text(MODEL.replace("tmp_0 = in_0 + in_1", "pair = torch.chunk(in_0 + in_1, 1)\n        tmp_0 = pair[0]"))
        shown = self.passnet("graph", "show", "--numbers", graph).stdout
        for line in ("# 0 add\n", "# 1 chunk\n", "# 2 getitem\n", "# 3 relu\n"):
            self.assertIn(line, shown)
        self.assertIn("# 3 relu, float32[40, 50]\n", self.passnet("graph", "show", "--numbers", "--shapes", graph).stdout)
        cut = ("graph", "cut", graph, "--out", self.root / "piece")
        done = self.passnet(*cut, "--ops", "chunk relu")
        self.assertEqual((done.returncode, done.stderr),
                         (3, "error: operators 'chunk relu': found 0 times, expected at least 1\n"
                             "hint: its operators, in order: add chunk getitem relu; 'passnet graph show --numbers' numbers them\n"))
        done = self.passnet(*cut, "--range", "2:4")
        self.assertEqual(done.returncode, 3)
        self.assertIn("'pair' flows into the range and is no tensor, expected tensors\nhint: begin the range at its node, 1 (chunk)\n", done.stderr)
        self.assertEqual(self.passnet(*cut, "--range", "1:4").returncode, 0)
        for given, said in ((("--range", "3"), "--range: expected START:END, as in 3:7, found '3'"), ((), "--range, or --ops, is required")):
            done = self.passnet(*cut, *given)
            self.assertEqual(done.returncode, 2)
            self.assertIn(said, done.stderr)

    def test_lines_of_both_streams_stand_in_their_order(self):
        together = self.root / "together.txt"
        with open(together, "w") as file:
            subprocess.run([BINARY, "pass", "new", "more", self.root / "passes", "--from", self.sample], stdout=file, stderr=file, check=True)
        lines = together.read_text().splitlines()
        self.assertEqual(lines[-1], f"next: passnet pass check {self.root / 'passes'}")
        self.assertIn(f"wrote {self.root / 'passes' / 'more.py'}", lines)

    def test_help_groups_options(self):
        for command in (("eval",), ("agent", "run"), ("leaderboard", "score")):
            shown = self.passnet(*command, "--help").stdout
            # Leaves the options that all commands share in no group.
            ungrouped = shown.partition("\nOptions:\n")[2].partition("\n\n")[0]
            self.assertRegex(shown, r"(?m)^Input:$")
            self.assertRegex(shown, r"(?m)^Output:$")
            self.assertEqual([line.split()[0] for line in ungrouped.splitlines() if line.startswith("  -")], ["-h,--help", "-q,--quiet", "--color"])


if __name__ == "__main__":
    unittest.main()
