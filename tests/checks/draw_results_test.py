"""benchmarks/draw_results.py: ratios and tables from CSV files; docs/performance.md shows the tables of the files that ship.
benchmarks/add_official.py and add_board.py: sittings on a GPU add up to a table.
benchmarks/draw_tutorials.py: the tutorials show its plots."""

import csv
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(os.environ["PASSNET_SOURCE_DIR"])
SCRIPT = SOURCE / "benchmarks" / "draw_results.py"

CPU = """\
set,graph,pytorch_eager_us,torch_compile_us,our_eager_us,our_passes_us
samples,a,8.0,inexact,4.0,1.0
samples,b,4.0,1.0,4.0,2.0
corpus,c,3.0,6.0,4.0,
"""
GPU_SIDES = "pytorch_eager_us,torch_compile_us,max_autotune_us,cudagraph_from_python_us,our_eager_us,our_cuda_graph_us,our_passes_us"
GPU = f"""\
run,set,clock,tensors,cache,graph,{GPU_SIDES}
default,samples,host,same,warm,a,8.0,4.0,,2.0,4.0,2.0,1.0
default,samples,device,same,warm,a,2.0,1.0,,2.0,2.0,2.0,4.0
"""
AUTHORED_CPU = """\
cpu,draw,graphs,over_eager,over_compile,score,aggregated_score,seconds_per_sample
one,every 10th from 1,5,,,2,,9
one,every 10th from 1,5,3,4,2,,9
one,every 10th from 1,6,1,1,1,,9
"""
AUTHORED = "over_eager_host_fresh,over_compile_host_fresh,over_compile_device_flushed,score,aggregated_score,seconds_per_sample"
AUTHORED_GPU = f"""\
set,draw,{AUTHORED}
PassBench-C,every 20th from 1,3,,,,,
PassBench-C,every 20th from 1,9,,,7,,
PassBench-C,every 20th from 2,5,,,,,
subgraphs,all 60,2,,,,,
"""
MODELS = """\
model,side,host_us,eager_us,device_us,tune_s,problem
a,eager,8.0,,8.0,,
a,compile,6.0,,2.0,,
a,reduce-overhead,4.0,,3.0,,
a,passnet tuned,,,,,timeout
a,passnet tuned,2.0,16.0,4.0,30,
b,eager,8.0,,8.0,,
b,compile,6.0,,2.0,,
"""
MODELS_CPU = """\
model,side,host_us,eager_us,device_us,tune_s,problem
c,eager,8.0,8.0,,,
c,compile,4.0,6.0,,,
c,passnet tuned,6.0,12.0,,9,
"""
TRACKS = ("host_same", "host_fresh", "device_warm", "device_flushed")
SIDES = ("our_eager", "pytorch_eager", "torch_compile", "our_passes")


def official(*graphs):
    """A table of (task, graph, time of each side): the same on all clocks."""
    lines = [["task", "graph", "class", *(f"{side}_{track}_us" for track in TRACKS for side in SIDES)]]
    lines += [[task, graph, "softmax" if task == "a" else "elementwise", *(4 * times)] for task, graph, times in graphs]
    return "".join(",".join(map(str, line)) + "\n" for line in lines)


OFFICIAL = official(("a", "1", (4.0, 8.0, 2.0, 1.0)), ("a", "2", (4.0, 8.0, 0.5, 1.0)), ("b", "1", (2.0, 2.0, 4.0, 1.0)))


SUBMISSIONS = """\
model,task,graphs,coverage,correct,fast_1,score,passbench_score,published,not_ranked
a,1,2,1,1,1,4.0,4.0,2.0,0
a,2,4,0.5,0.5,0,1.0,1.0,0.5,0
a,3,4,0,0,0,0.1,0.1,,0
a,4,4,0,0,0,,0.1,3.0,4
b,1,2,1,1,1,9.0,8.0,1.0,0
"""


def draw(results):
    return subprocess.run([sys.executable, SCRIPT, results], capture_output=True, text=True, check=True).stdout


class DrawResultsTests(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with tempfile.TemporaryDirectory() as directory:
            for name, text in (("cpu_graphs", CPU), ("gpu_graphs", GPU), ("authored_cpu", AUTHORED_CPU), ("authored_gpu", AUTHORED_GPU), ("official_tasks", OFFICIAL), ("official_models", SUBMISSIONS),
                               ("python_models_gpu", MODELS), ("python_models_cpu", MODELS_CPU)):
                (pathlib.Path(directory) / f"{name}.csv").write_text(text)
            cls.lines = draw(directory).splitlines()

    def test_ratios_have_their_mean_median_and_losses(self):
        self.assertIn("| samples: our passes over PyTorch eager | 2 | 4.00x | 5.00x | 0 |", self.lines)
        self.assertIn("| subgraphs: our eager over PyTorch eager | 1 | 0.75x | 0.75x | 1 |", self.lines)

    def test_a_model_is_compared_with_the_best_mode_of_each_clock(self):
        self.assertIn("| a | 8.00x | 2.00x | 0.50x | 30 |", self.lines)
        self.assertIn("| geometric mean | 8.00x (0) | 2.00x (0) | 0.50x (1) |  |", self.lines)

    def test_a_side_is_compared_with_eager_in_its_own_turns(self):
        self.assertIn("| c | 2.00x | 1.33x | 9 |", self.lines)

    def test_a_side_that_was_not_timed_is_in_no_ratio(self):
        self.assertIn("| samples: our passes over `torch.compile` | 1 | 0.50x | 0.50x | 1 |", self.lines)

    def test_host_and_device_clock_stand_together(self):
        self.assertIn("| samples: our passes over PyTorch eager | 1 | 8.00x (0) | - | 0.50x (1) | - |", self.lines)

    def test_the_newest_run_of_a_draw_counts(self):
        self.assertEqual([line for line in self.lines if line.startswith("| one ")], ["| one | every 10th from 1 | 5 | 3.00x | 4.00x | 2.00 | - | 9 |"])
        self.assertIn("| over eager, host clock, fresh | 2 | 4.00 (3.00 to 5.00) |", self.lines)
        self.assertIn("| score | 1 | 7.00 |", self.lines)

    def test_models_are_compared_on_tasks_with_all_scores(self):
        rows = [line for line in self.lines if line.startswith(("| a | 2 |", "| b | 1 |"))]
        self.assertEqual(rows, ["| b | 1 | 2 | 100.0 % | 100.0 % | 100.0 % | 9.000 | 8.000 | 1.000 |",
                                "| a | 2 | 6 | 75.0 % | 75.0 % | 50.0 % | 2.000 | 2.000 | 1.000 |"])

    def test_each_official_task_counts_as_much(self):
        self.assertIn("| official benchmark: 2 of 100 tasks, all 3 graphs, H200 | host, same | host, fresh | device, warm | device, flushed |", self.lines)
        self.assertIn("| our passes over PyTorch eager | 4.00x (0) | 4.00x (0) | 4.00x (0) | 4.00x (0) |", self.lines)
        self.assertIn("| our passes over `torch.compile` | 2.00x (1) | 2.00x (1) | 2.00x (1) | 2.00x (1) |", self.lines)

    def test_classes_of_operators_have_their_device_time(self):
        self.assertIn("| softmax | 1 | 2 | 8 | 8.00x | 8.00x | 1.00x |", self.lines)
        self.assertIn("| elementwise | 1 | 1 | 2 | 0.50x | 2.00x | 4.00x |", self.lines)

    def test_a_sitting_replaces_its_tasks_in_the_table(self):
        names = ("our eager", "PyTorch eager", "torch.compile", "our passes")
        timed = {name: {"medians_us": [3, 3, 3, 3], "mode": ""} for name in names}
        report = {"tracks": ["host clock, same tensors, warm cache", "host clock, fresh tensors, warm cache",
                             "device clock, same tensors, warm cache", "device clock, fresh tensors, flushed cache"],
                  "samples": [{"graph": "a/graphs/fusible_subgraphs/1", **timed}, {"graph": "c/2", **timed, "our passes": "its outputs differ:\nmore"}]}
        with tempfile.TemporaryDirectory() as directory:
            table = pathlib.Path(directory) / "table.csv"
            table.write_text(OFFICIAL)
            (pathlib.Path(directory) / "author_against_torch_compile.json").write_text(json.dumps(report))
            for graph, line in ("1", "y = torch.softmax(x, dim=-1).sum()"), ("2", "y = torch.conv2d(x, w).softmax(-1)"):
                model = pathlib.Path(directory) / "fusible_subgraphs" / graph / "model.py"
                model.parent.mkdir(parents=True)
                model.write_text(line)
            subprocess.run([sys.executable, SCRIPT.with_name("add_official.py"), table, directory, directory], check=True, capture_output=True)
            rows = list(csv.DictReader(table.read_text().splitlines()))
        self.assertEqual([(row["task"], row["graph"], row["class"], row["our_passes_host_same_us"], row["problem"]) for row in rows],
                         [("a", "1", "softmax", "3.00", ""), ("b", "1", "elementwise", "1.0", ""),
                          ("c", "2", "convolution or product", "", "our passes: its outputs differ:")])

    def test_a_sitting_of_models_replaces_its_tasks_but_for_those_that_the_machine_failed(self):
        def task(name, score, not_evaluated=0):
            return {"task": name, "graphs": 2, "summary": {"coverage": 1.0, "correct_share": 0.5, "fast_1": 0.25},
                    "scores": {"ours": score, "upstream": 1.5, "published": None}, "left_out": {"not_evaluated": not_evaluated, "not_ranked": 0}}
        with tempfile.TemporaryDirectory() as directory:
            table, board = pathlib.Path(directory) / "table.csv", pathlib.Path(directory) / "leaderboard.json"
            for tasks in ([task("a", 2.0), task("b", 3.0)], [task("b", 4.0), task("a", 9.0, not_evaluated=1)]):
                board.write_text(json.dumps({"models": [{"model": "one", "tasks": tasks}]}))
                subprocess.run([sys.executable, SCRIPT.with_name("add_board.py"), table, board], check=True, capture_output=True)
            self.assertEqual(table.read_text().splitlines()[1:], ["one,a,2,1,0.5,0.25,2,1.5,,0", "one,b,2,1,0.5,0.25,4,1.5,,0"])

    def test_the_document_shows_these_tables(self):
        document = (SOURCE / "docs" / "performance.md").read_text()
        for table in draw(SOURCE / "benchmarks" / "results").strip().split("\n\n"):
            self.assertIn(table, document, "docs/performance.md lacks this table: copy the output of benchmarks/draw_results.py")

    def test_the_tutorials_show_plots_of_these_figures(self):
        with tempfile.TemporaryDirectory() as directory:
            subprocess.run([sys.executable, SOURCE / "benchmarks" / "draw_tutorials.py", directory], check=True)
            drawn = {plot.name: plot.read_text() for plot in pathlib.Path(directory).iterdir()}
        shown = {plot.name: plot.read_text() for plot in (SOURCE / "docs" / "tutorial").glob("*.svg")}
        self.assertEqual(shown, drawn, "run benchmarks/draw_tutorials.py")
        for name in shown:
            self.assertIn(f"(tutorial/{name})", (SOURCE / "docs" / f"tutorial-{name.replace('.svg', '.md')}").read_text())


if __name__ == "__main__":
    unittest.main()
