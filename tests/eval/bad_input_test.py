"""Bad samples, graphs and passes: each a message that names the place, and no graph but the bad one is lost."""

import json
import unittest

from passnet_case import MODEL, PASS, PassnetCase, take_one_processor

take_one_processor()


class BadInput(PassnetCase):
    def graph_file(self, name):
        return self.sample / "graphs" / "small" / name

    def record_of_model(self, old, new):
        self.graph_file("model.py").write_text(MODEL.replace(old, new))
        return self.only_record()

    def test_truncated_model(self):
        record = self.record_of_model("tmp_0, inplace = False)\n        return (tmp_1,)\n", "")
        self.assertEqual((record["stage"], record["error_kind"]), ("parse", "bad-input"))
        self.assertRegex(record["error"], r"model\.py:\d+:\d+: error: .*expected")

    def test_foreign_model(self):
        self.graph_file("model.py").write_text("int main() { return 0; }\n")
        self.assertRegex(self.only_record()["error"], r"model\.py:1:1: error: ")

    def test_unknown_operator_names_the_nearest(self):
        record = self.record_of_model("functional.relu", "functional.rellu")
        self.assertEqual((record["stage"], record["error_kind"]), ("parse", "unsupported"))
        self.assertIn("model.py:7:17: error: unknown operator 'torch.nn.functional.rellu'", record["error"])
        self.assertIn("did you mean 'torch.nn.functional.relu'?", record["error"])

    def test_shape_that_does_not_fit(self):
        meta = self.graph_file("weight_meta.py")
        meta.write_text(meta.read_text().replace("40, 50", "40, 49", 1))
        record = self.only_record()
        self.assertEqual(record["stage"], "reference")
        self.assertIn("model.py:6:17: error: ", record["error"])
        self.assertIn("50", record["error"])

    def test_missing_meta_entry(self):
        meta = self.graph_file("weight_meta.py")
        meta.write_text(meta.read_text().split("\nclass")[0])
        record = self.only_record()
        self.assertEqual((record["stage"], record["error_kind"]), ("parse", "bad-input"))
        self.assertIn("in_1", record["error"])

    def test_wrong_meta_entry(self):
        meta = self.graph_file("weight_meta.py")
        meta.write_text(meta.read_text().replace("torch.float32", "torch.float33", 1))
        self.assertRegex(self.only_record()["error"], r"weight_meta\.py:4:\d+: error: .*float33")

    def test_bad_graph_spoils_only_itself(self):
        self.write_sample(["good", "bad"])
        (self.sample / "graphs" / "bad" / "model.py").write_text("nonsense")
        self.assertEqual(self.evaluate().returncode, 1)
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

    def test_pass_list_that_is_not_a_list(self):
        (self.sample / "pass_dir" / "sorted_output_pass_rule_names.json").write_text('{"add_relu": 1}')
        record = self.only_record()
        self.assertEqual((record["stage"], record["error_kind"]), ("match", "bad-input"))
        self.assertIn("sorted_output_pass_rule_names.json", record["error"])

    def test_named_pass_that_is_absent(self):
        (self.sample / "pass_dir" / "sorted_output_pass_rule_names.json").write_text(json.dumps(["add_rellu"]))
        record = self.only_record()
        self.assertEqual((record["stage"], record["error_kind"]), ("match", "bad-input"))
        self.assertIn("add_rellu", record["error"])
        self.assertIn("add_relu", record["error"])

    def test_plan_outside_the_language(self):
        self.write_pass(source=PASS.replace("    out = ", "    with torch.no_grad() as off: pass\n    out = "))
        record = self.only_record()
        self.assertEqual((record["stage"], record["error_kind"]), ("match", "bad-pass"))
        self.assertRegex(record["error"], r"add_relu\.py:10:26: error: .*with")

    def test_pass_without_a_kernel_file(self):
        (self.sample / "pass_dir" / "add_relu.cpp").unlink()
        record = self.only_record()
        self.assertEqual((record["stage"], record["error_kind"]), ("build", "bad-pass"))
        self.assertIn("no file 'add_relu.cpp'", record["error"])

    def test_no_match_says_what_is_nearest(self):
        self.write_pass(source=PASS.replace("relu(x + y)", "silu(x + y)"))
        record = self.only_record()
        self.assertEqual((record["stage"], record["error_kind"]), ("match", "no-match"))
        self.assertIn("silu", record["error"])

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
