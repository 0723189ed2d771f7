"""Outputs of which a part is judged at float64: what is wrong in a single row of the rest is found as well."""

import unittest

from passnet_case import KERNEL, PASS, PassnetCase, take_one_processor

take_one_processor()

ROWS, COLUMNS = 8192, 1024


class LargeOutput(PassnetCase):
    def verdict(self, last):
        """last: what the kernel gives in the last 64 columns of the last row."""
        self.write_sample(["small"], shape=f"{ROWS}, {COLUMNS}")
        right = "x[i] + y[i] < 0 ? 0 : x[i] + y[i]"
        self.write_pass(PASS, KERNEL % f"    out[i] = i + 64 < n ? ({right}) : ({last.format(right=right)});")
        return self.passnet("pass", "check", self.sample).stdout

    def test_a_row_that_was_left_out_is_found(self):
        self.assertIn("sample/small: correct", self.verdict("{right}"))
        for last in ("x[i]", "({right}) * 1.001f", "0.0f / 0.0f"):
            self.assertIn("sample/small: wrong", self.verdict(last), last)


if __name__ == "__main__":
    unittest.main()
