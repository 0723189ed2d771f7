"""Holds element-wise operators that the author writes against PyTorch's own on the sample inputs that PyTorch tests them with.

Quick tier: samples drawn with a fixed seed, each at one dtype. Full tier: all samples, each at all dtypes of its operator.
"""

import itertools
import os
import pathlib
import random
import re
import sys
import unittest

import torch

SOURCE = pathlib.Path(os.environ["PASSNET_SOURCE_DIR"])
sys.path[:0] = [str(SOURCE / "tests" / "author")]
from authored_case import AuthoredCase  # noqa: E402
from operator_database import op_db  # noqa: E402
from passnet_case import take_one_processor  # noqa: E402
from tiers import FULL  # noqa: E402

take_one_processor()

DTYPES = ("float32", "float16", "bfloat16", "float64", "int8", "uint8", "int16", "int32", "int64", "bool")
OF_A_GRAPH = 40  # operators
DRAWN = 24
SEED = 57


class Sample:
    """A call of an operator on sample inputs: its text, and its tensors by name."""

    def __init__(self, operator, sample, dtype, number):
        self.dtype, self.name, self.tensors = dtype, f"{dtype}_{number}", {}
        given = [sample.input, *sample.args]
        if operator.name == "where":
            given[0], given[1] = given[1], given[0]
        texts = [self.text(value) for value in given] + [f"{key}={self.text(value)}" for key, value in sample.kwargs.items()]
        self.call = f"torch.{operator.name}({', '.join(texts)})"

    def text(self, value):
        if not isinstance(value, torch.Tensor):
            return repr(value)
        name = f"{self.name}_{'abc'[len(self.tensors)]}"
        self.tensors[name] = value.detach()
        return name

    def expected(self):
        return eval(self.call, {"torch": torch} | self.tensors)  # noqa: S307


def rows():
    table = (SOURCE / "src" / "author" / "define" / "pointwise_rows.cpp").read_text()
    names = set(re.findall(r'^    \{"(\w+)"', table, re.MULTILINE))
    return names | {f"nn.functional.{name}" for name in names}


def samples():
    """Those that give one tensor with elements. PyTorch draws the elements with its own generator."""
    torch.manual_seed(SEED)
    draw, names, number, found = random.Random(SEED), rows(), itertools.count(), []
    functions = [operator for operator in op_db if operator.name in names and hasattr(torch, operator.name.split(".")[0])]
    pairs = [(operator, dtype) for operator in functions for dtype in DTYPES if getattr(torch, dtype) in operator.dtypes]
    for operator, dtype in pairs if FULL else draw.sample(pairs, DRAWN):
        usable = []
        for sample in operator.sample_inputs("cpu", getattr(torch, dtype)):
            one = Sample(operator, sample, dtype, next(number))
            result = one.expected()
            if isinstance(result, torch.Tensor) and result.numel() > 0 and not sample.kwargs.get("decimals"):
                usable.append(one)
        found += usable if FULL else draw.sample(usable, min(1, len(usable)))
    return found


class OpSamples(AuthoredCase):
    def test_operators_are_as_in_pytorch_on_its_own_samples(self):
        torch.set_num_threads(1)
        taken = samples()
        for at in range(0, len(taken), OF_A_GRAPH):
            some = taken[at:at + OF_A_GRAPH]
            inputs = {key: tensor for one in some for key, tensor in one.tensors.items()}
            found, left = self.outputs(f"from_{at}", inputs, [f"{one.name} = {one.call}" for one in some], [one.name for one in some])
            # Some operators are left at doubles and whole numbers.
            self.assertEqual([statement for statement in left if statement.startswith(("float32", "float16", "bfloat16"))], [])
            for i, one in enumerate(some):
                with self.subTest(call=one.call, dtype=one.dtype):
                    # At halves PyTorch rounds within an operator where its vectors end.
                    near = {"rtol": 1.6e-2, "atol": 1e-2} if one.dtype in ("float16", "bfloat16") else {}
                    result, expected = found[f"out_{i}"], one.expected()
                    if "remainder" in one.call:  # PyTorch's vectors give NaN where a quotient is beyond the type
                        result = torch.where(expected.isnan(), expected, result)
                    torch.testing.assert_close(result, expected, equal_nan=True, **near)


if __name__ == "__main__":
    unittest.main(verbosity=2)
