"""Bad samples, graphs and passes: each a message that names the place, and no graph but the bad one is lost.

The start of the workers takes longer than a graph, so one run evaluates all that is judged by its record alone.
"""

import json
import unittest

from passnet_case import PASS, PassnetCase, take_one_processor

take_one_processor()

LIST = "pass_dir/sorted_output_pass_rule_names.json"
# name: a file of the sample, and what becomes of its text
SPOILT = {
    "truncated_model": ("graphs/small/model.py", lambda text: text.replace("tmp_0, inplace = False)\n        return (tmp_1,)\n", "")),
    "foreign_model": ("graphs/small/model.py", lambda _: "int main() { return 0; }\n"),
    "unknown_operator": ("graphs/small/model.py", lambda text: text.replace("functional.relu", "functional.rellu")),
    "other_shape": ("graphs/small/weight_meta.py", lambda text: text.replace("40, 50", "40, 49", 1)),
    "missing_meta": ("graphs/small/weight_meta.py", lambda text: text.split("\nclass")[0]),
    "wrong_meta": ("graphs/small/weight_meta.py", lambda text: text.replace("torch.float32", "torch.float33", 1)),
    "no_list": (LIST, lambda _: '{"add_relu": 1}'),
    "absent_pass": (LIST, lambda _: json.dumps(["add_rellu"])),
    "outside_the_language": ("pass_dir/add_relu.py", lambda text: text.replace("    out = ", "    with torch.no_grad() as off: pass\n    out = ")),
    "no_kernel_file": ("pass_dir/add_relu.cpp", None),
    "no_match": ("pass_dir/add_relu.py", lambda text: text.replace("relu(x + y)", "silu(x + y)")),
}


class OneRun(PassnetCase):
    """Samples of one run, each with one file that is spoilt."""

    @classmethod
    def setUpClass(cls):
        case = cls.in_directory_of_class()
        samples = [case.add_sample(name) for name in SPOILT]
        for sample, (name, spoil) in zip(samples, SPOILT.values()):
            file = sample / name
            file.write_text(spoil(file.read_text())) if spoil else file.unlink()
        cls.found = case.evaluate_samples(samples, code=(3,))

    def test_truncated_model(self):
        record = self.found["truncated_model"]
        self.assertEqual((record["stage"], record["error_kind"]), ("parse", "bad-input"))
        self.assertRegex(record["error"], r"model\.py:\d+:\d+: error: .*expected")

    def test_foreign_model(self):
        record = self.found["foreign_model"]
        self.assertRegex(record["error"], r"model\.py:1:1: error: ")

    def test_unknown_operator_names_the_nearest(self):
        record = self.found["unknown_operator"]
        self.assertEqual((record["stage"], record["error_kind"]), ("parse", "unsupported"))
        self.assertIn("model.py:7:17: error: unknown operator 'torch.nn.functional.rellu'", record["error"])
        self.assertIn("did you mean 'torch.nn.functional.relu'?", record["error"])

    def test_shape_that_does_not_fit(self):
        record = self.found["other_shape"]
        self.assertEqual(record["stage"], "reference")
        self.assertIn("model.py:6:17: error: ", record["error"])
        self.assertIn("50", record["error"])

    def test_missing_meta_entry(self):
        record = self.found["missing_meta"]
        self.assertEqual((record["stage"], record["error_kind"]), ("parse", "bad-input"))
        self.assertIn("in_1", record["error"])

    def test_wrong_meta_entry(self):
        record = self.found["wrong_meta"]
        self.assertRegex(record["error"], r"weight_meta\.py:4:\d+: error: .*float33")

    def test_pass_list_that_is_not_a_list(self):
        record = self.found["no_list"]
        self.assertEqual((record["stage"], record["error_kind"]), ("match", "bad-input"))
        self.assertIn("sorted_output_pass_rule_names.json", record["error"])

    def test_named_pass_that_is_absent(self):
        record = self.found["absent_pass"]
        self.assertEqual((record["stage"], record["error_kind"]), ("match", "bad-input"))
        self.assertIn("add_rellu", record["error"])
        self.assertIn("add_relu", record["error"])

    def test_plan_outside_the_language(self):
        record = self.found["outside_the_language"]
        self.assertEqual((record["stage"], record["error_kind"]), ("match", "bad-pass"))
        self.assertRegex(record["error"], r"add_relu\.py:10:26: error: .*with")

    def test_pass_without_a_kernel_file(self):
        record = self.found["no_kernel_file"]
        self.assertEqual((record["stage"], record["error_kind"]), ("build", "bad-pass"))
        self.assertIn("no file 'add_relu.cpp'", record["error"])

    def test_no_match_says_what_is_nearest(self):
        record = self.found["no_match"]
        self.assertEqual((record["stage"], record["error_kind"]), ("match", "no-match"))
        self.assertIn("silu", record["error"])


class RunsOfTheirOwn(PassnetCase):
    def test_bad_graph_spoils_only_itself(self):
        self.write_sample(["good", "bad"])
        (self.sample / "graphs" / "bad" / "model.py").write_text("nonsense")
        self.assertEqual(self.evaluate().returncode, 3)
        self.assertEqual([record["stage"] for record in self.records()], ["done", "parse"])

    def test_empty_graph_list(self):
        (self.sample / "graph_list.txt").write_text("# nothing\n\n")
        done = self.evaluate()
        self.assertEqual(done.returncode, 3)
        self.assertIn("graph_list.txt", done.stderr)

    def test_listed_graph_that_does_not_exist(self):
        (self.sample / "graph_list.txt").write_text("small\nsmal\n")
        done = self.evaluate()
        self.assertEqual(done.returncode, 3)
        self.assertRegex(done.stderr, r"graph_list\.txt:2:1: error: .*smal")

    def test_declining_plan_keeps_the_original(self):
        self.write_pass(source=PASS.replace("    out = ", "    return NotImplemented\n    out = "))
        done = self.evaluate("--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        [record] = self.records()
        self.assertEqual((record["stage"], record["passes"][0]["declined"]), ("done", 1))
        self.assertEqual((record["outputs"], record["candidate"]["trials_us"]), ([], []))
        report = json.loads(done.stdout)
        self.assertEqual((report["graphs"][0]["verdict"], report["graphs"][0]["speedup"]), ("declined", 1))
        self.assertEqual(report["score"]["geomean_speedup"], 1)

    def test_sample_that_does_not_exist(self):
        done = self.evaluate(sample=self.root / "absent")
        self.assertEqual(done.returncode, 3)
        self.assertIn("absent", done.stderr)

    def test_wrong_flag_is_usage(self):
        self.assertEqual(self.evaluate("--no-such-flag").returncode, 2)


if __name__ == "__main__":
    unittest.main()
