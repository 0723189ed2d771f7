"""Kernels wait for what is done with their results: a copy of one needs them to have run, a view of one does not."""

import unittest

from passnet_case import META, PassnetCase, take_one_processor
from recorded_run import load_records

take_one_processor()

MODEL = """\
import torch

class GraphModule(torch.nn.Module):

    def forward(self, in_0, in_1):
        tmp_0 = in_0 + in_1
        tmp_1 = torch.nn.functional.relu(tmp_0, inplace = False)
        {moved}
        return (tmp_2,)
"""

MOVED = {
    "contiguous_of_what_is": "tmp_2 = tmp_1.contiguous()",
    "contiguous_of_what_is_not": "tmp_2 = tmp_1.transpose(1, 2).contiguous()",
    "contiguous_in_another_order": "tmp_2 = tmp_1.contiguous(memory_format = torch.channels_last)",
    "to_the_type_that_it_has": "tmp_2 = tmp_1.to(torch.float32)",
    "to_another_type": "tmp_2 = tmp_1.to(torch.float16)",
    "copy_of_the_same_type": "tmp_2 = tmp_1.to(torch.float32, copy = True)",
    "type_of_another": "tmp_2 = tmp_1.type_as(in_0)",
    "another_type_of_another": "tmp_3 = in_0.double(); tmp_2 = tmp_1.to(tmp_3)",
    "reshape_to_a_view": "tmp_2 = tmp_1[:, None].expand(2, 3, 30, 20, 40).reshape(2, 3, 30, -1)",
    "reshape_that_copies": "tmp_2 = tmp_1.transpose(1, 3).reshape(2, -1)",
}


class MovedResults(PassnetCase):
    def test_moved_results_are_right(self):
        self.write_sample(MOVED, shape="2, 30, 20, 40")
        for name, moved in MOVED.items():
            (self.sample / "graphs" / name / "model.py").write_text(MODEL.format(moved=moved))
        done = self.evaluate()
        self.assertEqual(done.returncode, 0, done.stderr)
        records = {record["graph"]: record for record in self.records()}
        self.assertEqual(records.keys(), MOVED.keys())
        for name, record in records.items():
            with self.subTest(name=name):
                self.assertEqual((record["stage"], record["error"]), ("done", ""))
                self.assertEqual([one["matches"] for one in record["passes"]], [1])
                self.assertEqual(record["outputs"][0]["max_abs_diff"], 0)


if __name__ == "__main__":
    unittest.main()
