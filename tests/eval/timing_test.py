"""A real run is measured, scored and kept: the suite runs alone, as other processes would disturb the times it looks at."""

import json
import unittest

from passnet_case import PASS, PassnetCase


class Threads(PassnetCase):
    def test_tasks_that_threads_cannot_share_evenly_are_all_computed(self):
        # Smaller launches are computed by one thread.
        self.write_sample(["small"], shape="1000, 1999")
        self.write_pass(source=PASS.replace("[(2,)]", "[(667,)]"))
        record = self.only_record("--threads", 2)
        self.assertEqual((record["stage"], record["error"]), ("done", ""))
        self.assertEqual(record["outputs"][0]["passes_from"], -10)


class Timing(PassnetCase):
    @classmethod
    def setUpClass(cls):
        cls.case = case = cls.in_directory_of_class()
        done = case.evaluate()
        case.assertEqual(done.returncode, 0, done.stderr)

    def setUp(self):
        self.out, self.sample = self.case.out, self.case.sample
        self.directory = self.out / "sample"

    def json_of(self, *arguments):
        done = self.passnet(*arguments, "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def test_every_trial_is_kept_but_for_dropped_pairs(self):
        (record,) = self.records()
        self.assertFalse(record["disturbed"], record["load"])
        self.assert_timed(record, 10)  # readings, each the mean of calls that were handed over together
        self.assertGreater(record["floor"]["us"], 0)
        for one in record["floor"]["arithmetic"]:
            self.assertGreater(min(one["operations"], one["gflop_per_s"]), 0, one)
        self.assertEqual([one["dtype"] for one in record["floor"]["arithmetic"]], ["float32"])
        self.assertFalse(record["control"]["disturbed"])

    def test_score_from_records_alone_is_the_score_of_the_run(self):
        written = json.loads((self.directory / "aggregated_score.json").read_text())
        scored = self.json_of("score", self.out)
        graphs = scored.pop("graphs")
        self.assertEqual(scored.pop("summary")["coverage"], 1)
        self.assertEqual((written.pop("records"), scored.pop("unchained")), (1, 0))
        self.assertRegex(written.pop("head"), r"^[0-9a-f]{64}$")
        self.assertEqual({**scored, "id": "sample"}, written)
        self.assertEqual([(graph["graph"], graph["verdict"]) for graph in graphs], [("sample/small", "correct")])
        self.assertAlmostEqual(graphs[0]["speedup"], written["geomean_speedup"], places=9)
        self.assertRegex(self.passnet("score", self.out).stdout, r"(?m)^correct +[0-9.]+x  sample/small$")

    def test_score_reads_the_log_that_eval_writes(self):
        from_records = self.json_of("score", self.directory / "records.jsonl")
        from_log = self.json_of("score", self.directory / "validation.log")
        self.assertAlmostEqual(from_log["score"], from_records["score"], places=4)

    def test_what_was_measured_is_kept(self):
        before = self.records()
        done = self.evaluate("--resume")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn(" again", done.stderr)
        self.assertEqual(self.records(), before)


if __name__ == "__main__":
    unittest.main()
