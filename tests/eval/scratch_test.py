"""Memory of a plan that is no output: each of the calls that are handed over together has its own."""

import unittest

from passnet_case import QUICK, PassnetCase, take_one_processor

take_one_processor()

SUMS = """\
import torch

def pattern(x, y):
    return torch.nn.functional.relu(x + y)

def replacement_args(x, y):
    return (x, y)

def add_relu(x, y):
    sums = torch.zeros(x.shape, dtype=x.dtype)
    out = torch.empty_like(x)
    for value in (x, y):
        add_kernel[(1,)](value, sums, x.numel())
    relu_kernel[(1,)](sums, out, x.numel())
    return out

def replacement_func():
    return add_relu
"""
KERNELS = """\
#include <passnet/kernel.h>

PASSNET_KERNEL add_kernel(const float* value, float* sums, int64_t n) {
  for (int64_t i = 0; i < n; ++i) sums[i] += value[i];
}

PASSNET_KERNEL relu_kernel(const float* sums, float* out, int64_t n) {
  for (int64_t i = 0; i < n; ++i) out[i] = sums[i] < 0 ? 0 : sums[i];
}
"""


class Scratch(PassnetCase):
    timing = QUICK

    def test_zeros_are_zeros_in_each_call(self):
        self.write_pass(SUMS, KERNELS)
        record = self.only_record("--trials", "40")
        self.assertEqual((record["stage"], record["error"], record["outputs"][0]["passes_from"]), ("done", "", -10))


if __name__ == "__main__":
    unittest.main()
