"""Kernels wait for what is done with their results: a copy of one needs them to have run, a view of one does not."""

import unittest

from passnet_case import META, PassnetCase

MODEL = """\
import torch

class GraphModule(torch.nn.Module):

    def forward(self, in_0, in_1):
        tmp_0 = in_0 + in_1
        tmp_1 = torch.nn.functional.relu(tmp_0, inplace = False)
        {moved}
        return (tmp_2,)
"""


class MovedResults(PassnetCase):
    def assert_right(self, moved):
        directory = self.sample / "graphs" / "small"
        (directory / "model.py").write_text(MODEL.format(moved=moved))
        (directory / "weight_meta.py").write_text("\n".join(META.format(name=name, shape="2, 30, 20, 40") for name in ("in_0", "in_1")))
        record = self.only_record()
        self.assertEqual((record["stage"], record["error"]), ("done", ""))
        self.assertEqual([one["matches"] for one in record["passes"]], [1])
        self.assertEqual(record["outputs"][0]["max_abs_diff"], 0)

    def test_contiguous_of_what_is(self):
        self.assert_right("tmp_2 = tmp_1.contiguous()")

    def test_contiguous_of_what_is_not(self):
        self.assert_right("tmp_2 = tmp_1.transpose(1, 2).contiguous()")

    def test_contiguous_in_another_order(self):
        self.assert_right("tmp_2 = tmp_1.contiguous(memory_format = torch.channels_last)")

    def test_to_the_type_that_it_has(self):
        self.assert_right("tmp_2 = tmp_1.to(torch.float32)")

    def test_to_another_type(self):
        self.assert_right("tmp_2 = tmp_1.to(torch.float16)")

    def test_a_copy_of_the_same_type(self):
        self.assert_right("tmp_2 = tmp_1.to(torch.float32, copy = True)")

    def test_the_type_of_another(self):
        self.assert_right("tmp_2 = tmp_1.type_as(in_0)")

    def test_another_type_of_another(self):
        self.assert_right("tmp_3 = in_0.double(); tmp_2 = tmp_1.to(tmp_3)")

    def test_reshape_to_a_view(self):
        self.assert_right("tmp_2 = tmp_1[:, None].expand(2, 3, 30, 20, 40).reshape(2, 3, 30, -1)")

    def test_reshape_that_copies(self):
        self.assert_right("tmp_2 = tmp_1.transpose(1, 3).reshape(2, -1)")


if __name__ == "__main__":
    unittest.main()
