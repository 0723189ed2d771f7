"""AOTInductor in the candidate's place: skipped where Python has no PyTorch, or there is no g++.

Full tier: a damaged package is compiled again.
"""

import importlib.util
import json
import os
import pathlib
import random
import shutil
import sys
import unittest

from passnet_case import MODEL, PassnetCase, take_one_processor
from tiers import FULL, full_tier


take_one_processor()

if importlib.util.find_spec("torch") is None or shutil.which("g++") is None:
    print("skipped: 4 tests, without PyTorch in Python and g++")
    sys.exit(77)
os.environ["PASSNET_PYTHON"] = sys.executable
os.environ["PASSNET_LOG"] = "debug"
MADE = "package took"  # what is logged of a package that is compiled


class Packages(PassnetCase):
    def write_body(self, *lines):
        """Makes these the body of the sample's graph."""
        text = MODEL[: MODEL.index("        tmp_0")] + "".join(f"        {line}\n" for line in lines)
        (self.sample / "graphs/small/model.py").write_text(text)

    def write_new_graph(self):
        """A graph that no earlier run has left a package of."""
        self.write_body(f"tmp_0 = in_0 * {random.random()!r}", "tmp_1 = tmp_0 + in_1", "return (tmp_1,)")

    def package_of(self, record):
        """The file in the cache."""
        home = pathlib.Path(os.environ.get("PASSNET_HOME") or pathlib.Path.home() / ".cache/passnet")
        fits = [path for path in home.glob("packages/*/*.pt2.seal") if path.read_text().startswith(record["provenance"]["objects"]["package"])]
        self.assertEqual(len(fits), 1)
        return fits[0].with_suffix("")

    def test_a_package_as_the_candidate(self):
        self.write_pass(source="this is no pass")  # which is not read
        self.write_new_graph()
        made = self.evaluate("--sides", "aotinductor")
        self.assertEqual(made.returncode, 0, made.stderr)
        self.assertIn(MADE, made.stderr)
        record = self.records()[0]
        self.assertEqual((record["compiler"], record["stage"], record["error"]), ("aotinductor", "done", ""))
        self.assertEqual(record["candidate"]["mode"], "aotinductor")
        self.assertGreaterEqual(record["calls_compared"], 12)
        self.assertLessEqual(record["outputs"][0]["passes_from"], -5)
        self.assertIn("shifted", record["profiles"])
        provenance = record["provenance"]
        self.assertEqual((record["passes"], provenance["passes"], list(provenance["objects"])), ([], {}, ["package"]))
        self.assertTrue(provenance["versions"]["AOTInductor"].startswith("AOTInductor of torch "))
        self.assertIn("torch in Python", provenance["versions"])
        again = self.evaluate("--resume", "--sides", "aotinductor").stderr
        self.assertNotIn("again:", again)
        self.assertIn("--sides passes,eager, was aotinductor,eager", self.evaluate("--resume").stderr)

        known = self.evaluate("--sides", "aotinductor")
        self.assertNotIn(MADE, known.stderr)
        self.assertEqual(self.records()[0]["provenance"]["objects"], provenance["objects"])
        if not FULL:
            return
        package = self.package_of(record)
        package.write_bytes(package.read_bytes()[:-1])
        damaged = self.evaluate("--sides", "aotinductor")
        self.assertEqual(damaged.returncode, 0, damaged.stderr)
        self.assertIn("is built again", damaged.stderr)
        self.assertIn(MADE, damaged.stderr)

    @full_tier
    def test_views_changed_inputs_and_numbers(self):
        self.write_body("tmp_0 = in_0.t()", "in_1 += 1", "tmp_1 = in_0 * in_1", "tmp_2 = tmp_1.size(0)", "return (tmp_0, tmp_1, tmp_2, None)")
        record = self.only_record("--sides", "aotinductor")
        self.assertEqual((record["stage"], record["error"]), ("done", ""))
        self.assertEqual([output["passes_from"] <= -5 for output in record["outputs"]], [True] * 4)
        self.assertEqual([one["name"] for one in record["inputs"]], ["in_1"])

    @full_tier
    def test_a_graph_that_cannot_be_exported_is_the_compilers_failure(self):
        self.write_body("tmp_0 = in_0.split(20)", "return (tmp_0, in_1)")
        done = self.evaluate("--sides", "aotinductor", "--json")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertEqual([graph["verdict"] for graph in json.loads(done.stdout)["graphs"]], ["build: failed"])
        record = self.records()[0]
        self.assertEqual((record["stage"], record["error_kind"]), ("build", "unsupported"))
        self.assertIn("torch.export: TypeError: the graph returns lists", record["error"])

    @full_tier
    def test_a_missing_compiler_is_no_fault_of_the_graph(self):
        """Evaluates with a PASSNET_HOME that does not exist yet."""
        self.write_new_graph()
        home = {"PASSNET_HOME": str(self.root / "home"), "PASSNET_PYTHON": sys.executable}
        done = self.evaluate("--sides", "aotinductor", "--json", env={**os.environ, **home, "PATH": str(self.root), "CXX": ""})
        self.assertEqual(done.returncode, 4, done.stderr)
        self.assertEqual(self.records()[0]["error_kind"], "resource")


if __name__ == "__main__":
    unittest.main()
