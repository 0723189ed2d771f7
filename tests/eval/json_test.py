"""Every command's --json is what its schema in docs/schemas says."""

import json
import os
import pathlib
import shutil
import sys
import unittest

from command_tree import leaves
from json_schema import problems
from passnet_case import PASS, QUICK, PassnetCase, take_one_processor
from recorded_run import RECORDED, settle

take_one_processor()

SOURCE = pathlib.Path(os.environ["PASSNET_SOURCE_DIR"])
SCHEMAS = SOURCE / "docs" / "schemas"
TOYS = SOURCE / "tests" / "capture" / "toy_models.py"
LINES = ("score", "dataset show", "dataset find")  # print one object per line


def schema_of(command):
    return json.loads((SCHEMAS / f"{command.replace(' ', '_')}.json").read_text())


class Schemas(unittest.TestCase):
    def test_there_is_one_for_every_command(self):
        self.assertEqual(sorted(path.stem for path in SCHEMAS.iterdir()), sorted(command.replace(" ", "_") for command in leaves()))

    def test_they_are_linked_and_named(self):
        text = (SOURCE / "docs" / "commands.md").read_text()
        for command in leaves():
            self.assertEqual(schema_of(command)["title"], f"passnet {command} --json")
            self.assertRegex(text, rf"### passnet {command}\n\n.*\[JSON schema\]\(schemas/{command.replace(' ', '_')}\.json\)")

    def test_what_is_not_so_is_noticed(self):
        schema = schema_of("pass new")
        self.assertEqual(problems({"written": ["a"]}, schema), [])
        self.assertEqual(problems({"written": [1]}, schema), ["$.written[0]: found 1, expected ['string']"])
        self.assertEqual(problems({}, schema), ["$: misses 'written'"])
        self.assertEqual(problems({"dot": "", "graph": "", "more": 1}, schema_of("graph dot")),
                         ["$: has 'more', which the schema does not name"])
        self.assertNotEqual(problems([], schema), [])


class Output(PassnetCase):
    def check(self, command, *arguments, code=0, **options):
        """Runs the command with --json; its stdout follows the schema. Returns the value, or the list of the lines' values."""
        done = self.passnet(*command.split(), *arguments, "--json", **options)
        self.assertIn(done.returncode, code if isinstance(code, tuple) else (code,), f"{command}: {done.stderr}\n{done.stdout}")
        texts = done.stdout.splitlines() if command in LINES else [done.stdout]
        values = [json.loads(text) for text in texts]
        self.assertGreater(len(values), 0, command)
        for value in values:
            self.assertEqual(problems(value, schema_of(command)), [], f"passnet {command} --json\n{done.stdout[:2000]}")
        return values if command in LINES else values[0]

    def disturb(self, records):
        """As if other processes had held the processors while the graphs were timed, in records that an older passnet wrote."""
        lines = [json.loads(line) for line in records.read_text().splitlines()]
        for line in lines:
            line["disturbed"] = True
            del line["chain"]
        records.write_text("".join(json.dumps(line) + "\n" for line in lines))
        (records.parents[1] / "run.jsonl").unlink()

    def test_selftest(self):
        found = self.check("selftest", "--filter", "controls/relu", "plan_skip_clone", "--ablate", "--mutants", 1)
        self.assertEqual([one["result"] for one in found["bundles"]], ["ok", "ok"])

    def test_eval_and_score(self):
        self.check("eval", self.sample, "--out", self.out, *QUICK)
        self.assertEqual(self.check("verify", self.out)["samples"][0]["result"], "ok")
        self.assertEqual(self.check("bundle", self.out / "sample", "-o", self.root / "m.passnet")["graph"], "sample/small")
        # Steady times, which hold nothing of what else the machine did.
        settle(self.out / "sample")
        self.assertEqual([graph["verdict"] for graph in self.check("score", self.out)[0]["graphs"]], ["correct"])
        log = RECORDED / "three_graphs" / "sample" / "validation.log"
        self.assertEqual([graph["graph"] for graph in self.check("score", log)[0]["graphs"]],
                         ["sample/small", "sample/graphs/float32/9/x_start1_end2_0", "sample/broken"])
        self.check("compare", self.out, self.out)
        self.disturb(self.out / "sample" / "records.jsonl")
        scored = self.check("score", self.out)[0]
        self.assertEqual(scored["graphs"], [{"graph": "sample/small", "verdict": "disturbed", "speedup": None}])
        self.assertEqual(scored["total"], 0, "what was not measured is named and not scored")
        self.assertIn("not in the score: 1 disturbed by other processes", self.passnet("score", self.out).stdout)
        self.assertEqual(self.check("verify", self.out, code=1)["samples"][0]["result"], "broken")
        self.assertEqual(self.check("reproduce", f"{self.out}#small", code=(0, 1))["graphs"][0]["sample"], "sample")
        self.write_pass(source=PASS.replace("x + y", "x - y"))
        self.check("eval", self.sample, "--out", self.root / "other", *QUICK, code=1)
        self.assertIsNone(self.check("score", self.root / "other")[0]["graphs"][0]["speedup"])

    def test_passes(self):
        self.assertEqual(self.check("pass check", self.sample)["graphs"][0]["sites"], 1)
        self.assertEqual(self.check("pass check", self.sample / "pass_dir")["passes"][0]["kernels"], ["CPU"])
        self.assertIn("no CUDA kernel", self.check("pass build", self.sample, code=1)["graphs"][0]["problem"])
        planned = self.check("pass build", self.sample, "--device", "cpu", "--plans")["graphs"][0]["plan"]
        self.assertIn("passnet.fused(0", planned["model"])
        self.assertEqual([len(one["launches"]) for one in planned["lists"]], [len(one) for one in planned["kernels"]])
        bundled = self.check("bundle", self.sample, "-o", self.root / "m.passnet")
        self.assertEqual((bundled["sites"], self.check("run", self.root / "m.passnet")["scalars"]), ({"cpu": 1}, {}))
        exported = self.check("export", self.sample, "--inductor", "-o", self.root / "module.py")
        self.assertEqual((exported["passes"], exported["patterns"]), (bundled["passes"], 1))
        found = self.check("pass match", self.sample, self.sample)["results"][0]
        self.assertEqual((found["matches"], found["fitting"], found["total"]), ([{"lines": [6, 7]}], 2, 2))
        self.write_pass(source=PASS.replace("x + y", "x - y"))
        self.check("pass check", self.sample, code=1)
        missed = self.check("pass match", self.sample, self.sample, code=1)["results"][0]
        self.assertEqual((missed["matches"], missed["fitting"], missed["total"]), ([], 1, 2))
        written = self.check("pass new", "fresh", self.root / "fresh")["written"]
        self.assertTrue(all(pathlib.Path(path).is_file() for path in written))
        drafted = self.check("pass new", "drafted", self.root / "drafted", "--from", self.sample)
        self.assertEqual((drafted["passes"], drafted["matched"]), ([{"pass": "drafted", "operators": 2, "kernels": 1}], 1))

    def test_graphs(self):
        graph, bad = self.sample / "graphs" / "small", self.sample / "graphs" / "bad"
        for command in ("graph check", "graph stats", "graph hash"):
            self.check(command, graph)
        for flags in ((), ("--shapes",)):
            self.check("graph show", graph, *flags)
        self.check("graph dot", graph)
        self.assertEqual(self.check("graph cut", graph, "--range", "1:2", "--out", self.root / "cut")["range"], [1, 2])
        bad.mkdir()
        (bad / "model.py").write_text("nothing")
        for command in ("graph check", "graph stats", "graph hash"):
            self.check(command, self.sample, code=3)
        self.check("run", graph)

    def test_doctor(self):
        self.check("doctor")

    def test_dataset(self):
        out = self.root / "data"
        full = self.root / "full"
        shutil.copytree(self.sample / "graphs", full)
        self.check("dataset build", full, "--out", out)
        self.check("dataset decompose", full, "--out", self.root / "pieces", "--kind", "fusible,sole_op")
        self.check("dataset dedup", self.root / "pieces", "--out", self.root / "unique")
        self.check("dataset samples", self.root / "pieces" / "fusible", "--out", self.root / "samples")
        self.check("dataset split", self.root / "samples")
        self.check("dataset groups", self.root / "pieces" / "fusible", "--out", self.root / "groups.jsonl")
        self.check("dataset index", full)
        self.check("dataset find", full)
        self.check("dataset stats", full)
        self.check("dataset show", self.sample)
        self.check("dataset generalize", full, "--out", self.root / "more", "--no-run")
        self.check("dataset generalize", full, "--out", self.root / "checked", "--no-run", "--check")
        (self.root / "graph_list.txt").write_text("graphs/fusible_subgraphs/float32/9/small/_decomposed/small_start0_end2_0\n")
        official = ("dataset official", self.root / "graph_list.txt", "--out", self.root / "official")
        self.assertEqual(self.check(*official, "--graphs", full)["outcomes"], {"cut": 1})
        self.assertEqual(self.check(*official, "--graphs", self.root, code=1)["outcomes"], {"no model": 1})

    def test_capture(self):
        environment = {**os.environ, "PASSNET_PYTHON": sys.executable}
        try:
            import torch  # noqa: F401
        except ImportError:
            self.skipTest("no PyTorch in this Python")
        self.check("dataset capture", "--from", f"{TOYS}:plain", "--dry-run", env=environment)
        report = self.check("dataset capture", "--from", f"{TOYS}:plain", "--out", self.root / "captured", "--max-shapes", 1, env=environment)
        self.assertEqual((report["captured"], report["models"]), (1, 1))


if __name__ == "__main__":
    unittest.main()
