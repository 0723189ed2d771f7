"""What upstream's users have around a sample: entry.sh with its places, limits, given passes, configuration and lists."""

import base64
import json
import math
import os
import pathlib
import subprocess
import unittest

import log_reader
from passnet_case import BINARY, KERNEL, PASS, QUICK, RIGHT_BODY, PassnetCase, take_one_processor
from recorded_run import settle

take_one_processor()

SOURCE = pathlib.Path(os.environ["PASSNET_SOURCE_DIR"])
ENTRY = SOURCE / "samples" / "vit_add_layer_norm" / "entry.sh"
# The weights that PassBench aggregates by (docs/scoring.md).
WEIGHTS = {-10: 0.001, -9: 0.001, -8: 0.001, -7: 0.001, -6: 0.001, -5: 1, -4: 1, -3: 1, -2: 0.8, -1: 0.64, 0: 0.512,
           1: 0.4096, 2: 0.32768, 3: 0.262144, 4: 0.001}
SHARED = """\
import torch
{plans}
"""
PLAN = """
def {name}(x, y):
    out = torch.empty_like(x)
    add_relu_kernel[(2,)](x, y, out, x.numel(), T=x.dtype)
    return out
"""


def own_pass(pattern="torch.nn.functional.relu(x + y)", function="add_relu"):
    """A pass of one file, whose function is its own."""
    return PASS.replace("torch.nn.functional.relu(x + y)", pattern).replace("add_relu(x, y)", f"{function}(x, y)").replace(
        "return add_relu", f"return {function}")


def sharing_pass(function, pattern="torch.nn.functional.relu(x + y)"):
    """A pass whose function stands in shared.py."""
    return (f"import torch\nfrom pass_dir.shared import {function}\n\ndef pattern(x, y):\n    return {pattern}\n\n"
            f"def replacement_args(x, y):\n    return (x, y)\n\ndef replacement_func():\n    return {function}\n")


class Upstream(PassnetCase):
    timing = QUICK

    def write_passes(self, passes, directory=None, listing="sorted_output_pass_rule_names.json"):
        """{name: text}, each with the right kernel beside it."""
        directory = directory or self.sample / "pass_dir"
        directory.mkdir(exist_ok=True)
        for name, text in passes.items():
            (directory / f"{name}.py").write_text(text)
            (directory / f"{name}.cpp").write_text(KERNEL % RIGHT_BODY)
        (directory / listing).write_text(json.dumps(list(passes)))

    def applied(self, record):
        return [outcome["pass"] for outcome in record["passes"]]

    def surplus(self, record):
        return [one["pass"] for one in record.get("surplus", [])]


class Entry(Upstream):
    def setUp(self):
        super().setUp()
        self.workspace = self.root / "workspace"
        (self.sample / "entry.sh").write_text(ENTRY.read_text())

    def checkout(self, directory):
        """What entry.sh takes for a checkout that is built."""
        (directory / "include" / "passnet").mkdir(parents=True)
        (directory / "include" / "passnet" / "kernel.h").touch()
        (directory / "build" / "bin").mkdir(parents=True)
        (directory / "build" / "bin" / "passnet").symlink_to(BINARY)

    def entry(self, *arguments, pythonpath="", path="/usr/bin:/bin"):
        environment = {**os.environ, "PATH": path, "PYTHONPATH": str(pythonpath), "PASSNET_EVAL_OUTPUT": str(self.workspace)}
        return subprocess.run(["bash", str(self.sample / "entry.sh"), *map(str, QUICK), *arguments], env=environment,
                              cwd=self.root, capture_output=True, text=True, timeout=240, stdin=subprocess.DEVNULL)

    def test_leaves_log_and_score_in_upstreams_place(self):
        self.checkout(self.root / "elsewhere")
        done = self.entry(pythonpath=f"{self.root}/nothing:{self.root}/elsewhere")
        self.assertEqual(done.returncode, 0, done.stderr)
        score = json.loads((self.workspace / "aggregated_score.json").read_text())
        run = pathlib.Path(score["run"])
        record = json.loads((run / "sample/records.jsonl").read_text())
        # A graph that other processes disturbed counts in no score.
        measured = 0 if record["disturbed"] else 1
        self.assertEqual((score["id"], score["total"], score["correct"]), (1, measured, measured))
        self.assertAlmostEqual(score["score"], json.loads((run / "sample/aggregated_score.json").read_text())["passbench_score"], places=12)
        self.assertEqual((self.workspace / "validation.log").read_text(), (run / "sample/validation.log").read_text())
        self.assertIn("Has Any pass matched? [True]", done.stderr)
        # Upstream's limits are in force.
        options = record["provenance"]["options"]
        self.assertEqual((options["pass_pattern_limit"], options["pass_replacement_func_limit"]), (100, 1))

    def test_no_score_of_an_earlier_run_stays(self):
        self.checkout(self.root)
        for spoil in (lambda: (self.sample / "graph_list.txt").write_text("no_such_graph\n"), lambda: (self.root / "build/bin/passnet").unlink()):
            self.workspace.mkdir(exist_ok=True)
            for name in ("aggregated_score.json", "validation.log"):
                (self.workspace / name).write_text("of yesterday")
            spoil()
            done = self.entry()
            self.assertIn(done.returncode, (3, 4), done.stderr)
            self.assertEqual(os.listdir(self.workspace), [])

    def test_a_pass_that_does_not_match_has_a_score_all_the_same(self):
        self.checkout(self.root)
        self.write_passes({"add_relu": own_pass("torch.tanh(x) + y")})
        done = self.entry()
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("Has Any pass matched? [False]", done.stderr)
        self.assertLess(json.loads((self.workspace / "aggregated_score.json").read_text())["score"], 0.2)

    def test_builds_a_fresh_clone(self):
        clone = self.root / "clone"
        (clone / "include" / "passnet").mkdir(parents=True)
        (clone / "include" / "passnet" / "kernel.h").touch()
        (clone / "Makefile").write_text(f"build:\n\tmkdir -p build/bin\n\tln -s {BINARY} build/bin/passnet\n")
        (clone / "samples").mkdir()
        self.sample = self.sample.rename(clone / "samples" / "sample")
        done = self.entry()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(f"make -C {clone} build", done.stderr)
        self.assertTrue((self.workspace / "aggregated_score.json").exists())

    def test_says_what_is_missing(self):
        done = self.entry()
        self.assertEqual(done.returncode, 4)
        self.assertIn("'make build' in a checkout makes it", done.stderr)

    def test_takes_the_program_on_the_path_and_given_passes(self):
        self.write_passes({"given": own_pass()}, self.sample / "const_pass_dir", "sorted_input_pass_rule_names.json")
        done = self.entry("--pass-pattern-limit", "7", path=f"{BINARY.parent}:/usr/bin:/bin")
        self.assertEqual(done.returncode, 0, done.stderr)
        run = pathlib.Path(json.loads((self.workspace / "aggregated_score.json").read_text())["run"])
        record = json.loads((run / "sample/records.jsonl").read_text())
        self.assertEqual(self.applied(record), ["given", "add_relu"])
        self.assertEqual(record["provenance"]["options"]["pass_pattern_limit"], 7)

    def test_all_shipped_samples_have_the_same(self):
        for entry in SOURCE.glob("samples/*/entry.sh"):
            self.assertEqual(entry.read_text(), ENTRY.read_text(), entry)
            self.assertTrue(os.access(entry, os.X_OK), entry)


class Limits(Upstream):
    def test_first_functions_of_the_list_stay_and_the_others_are_named(self):
        (self.sample / "pass_dir" / "shared.py").write_text(SHARED.format(plans=PLAN.format(name="one") + PLAN.format(name="two")))
        self.write_passes({"a": sharing_pass("one", "torch.tanh(x) + y"), "b": sharing_pass("two", "torch.sigmoid(x) + y"),
                           "c": sharing_pass("one"), "d": own_pass(function="one")})
        record = self.only_record("--pass-replacement-func-limit", 2)
        self.assertEqual((self.applied(record), self.surplus(record)), (["a", "b", "c"], ["d"]))
        done = self.evaluate("--pass-replacement-func-limit", 1)
        (record,) = self.records()
        self.assertEqual((self.applied(record), self.surplus(record)), (["a", "c"], ["b", "d"]))
        self.assertIn("--pass-replacement-func-limit 1: another function", record["surplus"][0]["reason"])
        self.assertRegex(done.stdout, r"passes left out: b, d of sample \(--pass-replacement-func-limit 1:")
        self.assertIn("Passes left out: b, d of sample", (self.out / "report.html").read_text())
        again = self.evaluate("--resume", "--pass-replacement-func-limit", 1, "--json")
        self.assertNotIn("again: --", again.stderr)
        self.assertEqual([one["pass"] for one in json.loads(again.stdout)["graphs"][0]["surplus"]], ["b", "d"])
        self.assertIn("small again: --pass-replacement-func-limit none, was 1", self.evaluate("--resume").stderr)

    def test_patterns_are_one_when_their_graphs_are_equal(self):
        same = own_pass("torch.nn.functional.relu(y + x)")
        self.write_passes({"a": own_pass(), "b": own_pass("torch.tanh(x) + y"), "c": own_pass("(x + y).relu()"), "d": same})
        record = self.only_record("--pass-pattern-limit", 1)
        self.assertIn("a", self.applied(record))
        self.assertIn("b", self.surplus(record))
        self.assertNotIn("c", self.surplus(record))
        self.assertEqual(self.surplus(self.only_record("--pass-pattern-limit", 2)), [])

    def test_the_same_run_twice_leaves_out_the_same(self):
        self.write_passes({name: own_pass(f"torch.clamp(x + y, {i})") for i, name in enumerate("edcba")} | {"z": own_pass()})
        found = [self.surplus(self.only_record("--pass-pattern-limit", 2)) for _ in range(2)]
        self.assertEqual(found, [["c", "b", "a", "z"]] * 2)

    def test_upstreams_configuration(self):
        self.write_passes({"a": own_pass("torch.tanh(x) + y"), "b": own_pass()})
        matched = self.root / "matched"
        config = {"input_pass_rule_dir": str(self.sample / "const_pass_dir"), "output_pass_rule_dir": str(self.sample / "pass_dir"),
                  "output_pass_pattern_limit": 1, "output_pass_replacement_func_limit": 5, "pass_match_result_file_path": str(matched)}
        for text in (json.dumps(config), base64.b64encode(json.dumps(config).encode()).decode()):
            record = self.only_record("--config", text)
            self.assertEqual((self.applied(record), self.surplus(record), matched.read_text()), (["a"], ["b"], "False"))
        self.only_record("--config", text, "--pass-pattern-limit", 2)
        self.assertEqual(matched.read_text(), "True")
        for config, said in (({"output_pass_patern_limit": 1}, "did you mean 'output_pass_pattern_limit'?"), ({"output_pass_pattern_limit": 0}, "expected an integer"),
                             ({"output_pass_rule_dir": "/"}, "expected the passes of the sample"), ([3], "expected JSON or JSON in base64")):
            done = self.evaluate("--config", json.dumps(config))
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn(said, done.stderr)


class GivenPasses(Upstream):
    def setUp(self):
        super().setUp()
        self.given = self.root / "given"
        self.write_passes({"first": own_pass("torch.tanh(x) + y"), "second": own_pass()}, self.given, "sorted_input_pass_rule_names.json")

    def test_given_ones_come_first_and_are_overridden_in_place(self):
        self.write_passes({"third": own_pass("torch.exp(x) + y"), "first": own_pass("torch.sigmoid(x) + y")})
        record = self.only_record("--input-pass-dir", self.given)
        self.assertEqual(self.applied(record), ["first", "second", "third"])
        self.assertIn("sigmoid", (self.out / "sample/passes/first.py").read_text())
        self.assertIn("given/second.py", record["provenance"]["passes"])
        self.assertIn("given/second.cpp", record["provenance"]["kernels"])
        self.assertEqual(self.passnet("verify", self.out).returncode, 0)
        self.assertIn(self.passnet("reproduce", self.out).returncode, (0, 1))  # 1: another speed; 5: something changed
        (self.given / "second.py").write_text(own_pass() + "\n")
        self.assertIn("small again: pass given/second.py changed", self.evaluate("--resume", "--input-pass-dir", self.given).stderr)

    def test_a_sample_need_not_have_its_own(self):
        (self.sample / "pass_dir" / "sorted_output_pass_rule_names.json").write_text("[]")
        self.assertEqual(self.applied(self.only_record("--input-pass-dir", self.given)), ["first", "second"])

    def test_another_order(self):
        order = self.root / "order.json"
        for names, applied in ((["second", "first"], ["second", "first", "add_relu"]), (["add_relu", "second", "first"],) * 2):
            order.write_text(json.dumps(names))
            self.assertEqual(self.applied(self.only_record("--input-pass-dir", self.given, "--pass-order", order)), applied)
        self.assertIn("--pass-order as listed, was add_relu,second,first", self.evaluate("--resume", "--input-pass-dir", self.given).stderr)
        order.write_text('["second", "thrid"]')
        done = self.evaluate("--input-pass-dir", self.given, "--pass-order", order)
        self.assertEqual(done.returncode, 3)
        self.assertIn("is no permutation of the passes: it lacks 'first', 'add_relu', and 'thrid' is none of them", done.stderr)

    def test_the_sample_may_order_the_given_ones(self):
        (self.sample / "pass_dir" / "sorted_input_pass_rule_names.json").write_text('["second", "first"]')
        self.assertEqual(self.applied(self.only_record("--input-pass-dir", self.given)), ["second", "first", "add_relu"])
        (self.sample / "pass_dir" / "sorted_input_pass_rule_names.json").write_text('["second"]')
        self.assertIn("is no permutation of the given passes: it lacks 'first'", self.evaluate("--input-pass-dir", self.given).stderr)


class Lists(Upstream):
    def graphs_of(self, listing, *flags, **options):
        done = self.evaluate("--sides", "eager", "--json", *flags, sample=listing, **options)
        self.assertIn(done.returncode, (0, 1, 3), done.stderr)
        return sorted((graph["sample"], graph["graph"]) for graph in json.loads(done.stdout)["graphs"])

    def test_lines_below_the_root_of_the_checkout_that_the_list_lies_in(self):
        # A graph that cannot be read is listed like any other, and is not timed.
        (self.sample / "graphs" / "small" / "model.py").write_text("import torch\n")
        place = self.root / "samples" / "xx" / "hash"
        place.parent.mkdir(parents=True)
        self.sample.rename(place)
        (place / "graph_list.txt").write_text("\ufeffgraphs/small\r\n\r\n# none\r\n")
        lists = self.root / "sample_lists" / "eval"
        lists.mkdir(parents=True)
        (lists / "all.txt").write_text("samples/xx/hash\r\n\r\n")
        (lists / "all.csv").write_text("sample_path\r\nsamples/xx/hash\r\n")
        expected = [("hash", "graphs/small")]
        for listing in (lists / "all.txt", lists / "all.csv", place / "graph_list.txt"):
            self.assertEqual(self.graphs_of(listing), expected)
        far = self.root / "far.txt"
        far.write_text("xx/hash\n")
        self.assertEqual(self.graphs_of(far, "--root", self.root / "samples"), expected)
        self.assertEqual(self.graphs_of(far, env={**os.environ, "PASSNET_ROOT": str(self.root / "samples")}), expected)
        self.assertEqual(self.graphs_of(far, cwd=self.root / "samples"), expected)
        done = self.evaluate("--root", self.root / "sample_lists", sample=far)
        self.assertEqual(done.returncode, 3)
        self.assertIn("far.txt:1:1: error: ", done.stderr)


class Log(Upstream):
    def test_reading_the_log_gives_the_score_of_the_records(self):
        self.write_sample(["small", "graphs/float32/9/x_start1_end2_0"])
        broken = self.sample / "graphs" / "broken"
        broken.mkdir()
        (broken / "model.py").write_text("import torch\n")
        with (self.sample / "graph_list.txt").open("a") as listing:
            listing.write("broken\n")
        self.evaluate()
        settle(self.out / "sample", (2.0, 1.5))
        self.assertNotIn("again", self.evaluate("--resume").stderr)  # writes the log of these times
        records, log = (json.loads(self.passnet("score", self.out / "sample" / name, "--json").stdout) for name in ("records.jsonl", "validation.log"))
        self.assertEqual((records["total"], log["total"]), (3, 3))
        for key in ("score", "score_linear", "passbench_score", "geomean_speedup", "correct_share"):
            self.assertTrue(math.isclose(records[key], log[key], rel_tol=1e-9), (key, records[key], log[key]))
        for ours, read in zip(records["points"], log["points"]):
            self.assertTrue(math.isclose(ours["es"], read["es"], rel_tol=1e-9) and math.isclose(ours["s"], read["s"], rel_tol=1e-9))
        self.assertEqual([graph["graph"] for graph in records["graphs"]], [graph["graph"] for graph in log["graphs"]])
        graphs = [log_reader.Graph(lines) for lines in log_reader.blocks((self.out / "sample" / "validation.log").read_text())]
        self.assertEqual([graph.name for graph in graphs], [f"sample/{name}" for name in ("small", "graphs/float32/9/x_start1_end2_0", "broken")])
        for point in records["points"]:
            self.assertTrue(math.isclose(log_reader.es(graphs, point["t"]), point["es"], rel_tol=1e-9), point)
        weighted = sum(WEIGHTS[point["t"]] * math.log10(point["es"]) for point in log["points"])
        self.assertTrue(math.isclose(10 ** (weighted / sum(WEIGHTS.values())), log["passbench_score"], rel_tol=1e-9))


if __name__ == "__main__":
    unittest.main()
