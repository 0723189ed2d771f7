"""Holds every element-wise operator that the author writes against PyTorch's own, at special values of every dtype.

A graph has all operators at hand on the same inputs, which hold each pair of the special values of their dtype (NaN, infinities,
-0, subnormal numbers, the ends of the type). The kernels of a graph are one file, compiled once. Results are compared bit by
bit, those of functions by units in the last place; NaN, infinities and zeros are always where PyTorch has them.

Quick tier: each operator with exact results at one of its dtypes, in turn. Full tier: each at all of them, and functions, whose
results in PyTorch depend on the processor.
"""

import math
import os
import pathlib
import re
import sys
import unittest

import torch
SOURCE = pathlib.Path(os.environ["PASSNET_SOURCE_DIR"])
sys.path[:0] = [str(SOURCE / "tests" / "author")]
from authored_case import AuthoredCase, F  # noqa: E402
from passnet_case import take_one_processor  # noqa: E402
from tiers import FULL  # noqa: E402

take_one_processor()

HALVES = ("float16", "bfloat16")
REALS = ("float32", *HALVES)
WHOLE = ("int8", "uint8", "int16", "int32", "int64")
DOUBLES = ("float64",)
BOOL = ("bool",)
NUMBERS = (*REALS, *DOUBLES, *WHOLE)
ALL = (*NUMBERS, *BOOL)
MASK = "m"

# name in pointwise_rows.cpp: expressions of the tensors a, b, c, the mask m, the 0-dimensional tensors s (float32) and n (int64),
# with the dtypes of a, b and c, and for functions the units in the last place by which results may differ.
OPERATORS = {
    "add": [("a + b", ALL), ("a + 3", NUMBERS), ("0.3 + a", REALS), ("a + s", REALS), ("torch.add(a, b, alpha=3)", NUMBERS),
            ("torch.add(a, b, alpha=0.3)", REALS, 1), ("a + n", WHOLE)],
    "sub": [("a - b", NUMBERS), ("1 - a", NUMBERS), ("a - 0.3", REALS), ("torch.sub(a, b, alpha=2)", NUMBERS),
            ("torch.rsub(a, b, alpha=2)", NUMBERS), ("s - a", REALS)],
    "mul": [("a * b", ALL), ("a * 3", NUMBERS), ("a * 0.3", (*REALS, *DOUBLES)), ("a * s", REALS), ("s * b", REALS), ("a * n", WHOLE)],
    "div": [("a / b", NUMBERS), ("a / 0.3", REALS), ("a / s", REALS), ("a // b", REALS), ("a // 0.3", REALS), ("a // s", REALS),
            *((f"torch.div(a, {by}, rounding_mode='trunc')", REALS) for by in ("b", "0.3", "s"))],
    "pow": [("a ** 2", NUMBERS), ("a ** 3", NUMBERS, 1), ("a ** 0.5", REALS, 1), ("a ** -0.5", REALS, 1), ("a ** -1", REALS), ("a ** -2", REALS, 1),
            ("torch.pow(a, 2.0)", REALS), ("torch.pow(a, 3.0)", REALS, 1), ("a ** 1.7", REALS, 2), ("a ** b", REALS, 2)],
    "remainder": [("a % b", REALS), ("a % 0.3", REALS), ("a % 7", REALS), ("a % s", REALS)],
    "maximum": [("torch.maximum(a, b)", ALL)],
    "minimum": [("torch.minimum(a, b)", ALL)],
    "max": [("torch.max(a, b)", ALL)],
    "min": [("torch.min(a, b)", ALL)],
    "atan2": [("torch.atan2(a, b)", REALS, 2)],
    "addcmul": [("torch.addcmul(a, b, c)", NUMBERS, 1), ("torch.addcmul(a, b, c, value=3)", NUMBERS, 1),
                ("torch.addcmul(a, b, c, value=0.3)", REALS, 1)],
    "addcdiv": [("torch.addcdiv(a, b, c)", REALS, 1), ("torch.addcdiv(a, b, c, value=1e-10)", REALS, 1)],
    "lerp": [("torch.lerp(a, b, 0.3)", REALS, 1), ("torch.lerp(a, b, 0.7)", REALS, 1), ("torch.lerp(a, b, 1.0)", REALS, 1),
             ("torch.lerp(a, b, c)", REALS, 1)],
    "neg": [("-a", NUMBERS)],
    "abs": [("torch.abs(a)", (*REALS, *WHOLE))],
    "sign": [("torch.sign(a)", (*REALS, *WHOLE))],
    "reciprocal": [("torch.reciprocal(a)", REALS)],
    "square": [("torch.square(a)", NUMBERS)],
    "sqrt": [("torch.sqrt(a)", REALS, 1)],  # on some processors PyTorch's own is not rounded right
    "rsqrt": [("torch.rsqrt(a)", REALS, 1)],
    **{name: [(f"torch.{name}(a)", REALS, ulps)] for name, ulps in {
        "exp": 2, "exp2": 2, "expm1": 2, "log": 2, "log2": 2, "log10": 2, "log1p": 2, "sin": 2, "cos": 2, "tan": 4, "asin": 4,
        "acos": 4, "atan": 2, "sinh": 2, "cosh": 2, "tanh": 2, "erf": 2, "erfc": 16, "sigmoid": 4}.items()},
    **{name: [(f"torch.{name}(a)", REALS)] for name in ("floor", "ceil", "trunc", "round")},
    "clamp": [("torch.clamp(a, min=1)", NUMBERS), ("torch.clamp(a, max=2)", NUMBERS), ("torch.clamp(a, 1, 3)", NUMBERS),
              ("torch.clamp(a, 3, 1)", NUMBERS), ("torch.clamp(a, b, c)", NUMBERS), ("torch.clamp(a, min=b)", NUMBERS),
              ("torch.clamp(a, max=c)", NUMBERS), ("torch.clamp(a, min=0.3)", REALS),
              ("torch.clamp(a, 0.0, float('nan'))", REALS), ("torch.clamp(a, min=float('nan'))", REALS)],
    "clamp_min": [("torch.clamp_min(a, 1)", NUMBERS), ("torch.clamp_min(a, float('nan'))", REALS), ("torch.clamp_min(a, b)", NUMBERS)],
    "clamp_max": [("torch.clamp_max(a, 1)", NUMBERS), ("torch.clamp_max(a, float('nan'))", REALS), ("torch.clamp_max(a, b)", NUMBERS)],
    **{name: [(f"a {symbol} b", ALL), (f"a {symbol} 1", NUMBERS), (f"a {symbol} 0.3", REALS), (f"a {symbol} s", REALS),
              (f"a {symbol} 300", WHOLE), (f"a {symbol} -1", WHOLE), (f"a {symbol} n", WHOLE)]
       for name, symbol in {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}.items()},
    **{name: [(f"torch.{name}(a)", NUMBERS)] for name in ("isnan", "isfinite", "isinf")},
    "where": [("torch.where(m, a, b)", ALL), ("torch.where(m, a, 0.3)", REALS), ("torch.where(m, a, 3)", NUMBERS)],
    "masked_fill": [("a.masked_fill(m, 3)", NUMBERS), ("a.masked_fill(m, 0.3)", REALS), ("a.masked_fill(m, True)", BOOL)],
    "relu": [(f"{F}relu(a)", (*REALS, *WHOLE))],
    "relu6": [(f"{F}relu6(a)", REALS)],
    **{name: [(f"{F}{name}(a)", REALS, ulps)] for name, ulps in {
        "silu": 4, "mish": 6, "hardswish": 2, "hardsigmoid": 2, "selu": 4, "logsigmoid": 4, "softsign": 1, "tanhshrink": 4}.items()},
    "gelu": [(f"{F}gelu(a)", REALS, 64), (f"{F}gelu(a, approximate='tanh')", REALS, 64)],
    "hardtanh": [(f"{F}hardtanh(a, -1.0, 0.3)", REALS)],
    "leaky_relu": [(f"{F}leaky_relu(a, 0.3)", REALS)],
    "elu": [(f"{F}elu(a, 0.7)", REALS, 2)],
    "hardshrink": [(f"{F}hardshrink(a, 0.3)", REALS)],
    **{name: [(f"torch.{name}(a)", REALS)] for name in ("deg2rad", "rad2deg")},
    "celu": [(f"{F}celu(a, 0.7)", REALS, 4)],
    "softplus": [(f"{F}softplus(a, 1.0, 20.0)", REALS, 4), (f"{F}softplus(a, 2.0, 3.0)", REALS, 4)],
    "bitwise_not": [("~a", (*WHOLE, *BOOL))],
    **{f"bitwise_{name}": [(f"a {symbol} b", (*WHOLE, *BOOL))] for name, symbol in {"and": "&", "or": "|", "xor": "^"}.items()},
    **{f"logical_{name}": [(f"torch.logical_{name}(a, b)", ALL)] for name in ("and", "or", "xor")},
    "logical_not": [("torch.logical_not(a)", ALL)],
    "threshold": [(f"{F}threshold(a, 0.3, 7.0)", REALS)],
    "to": [(f"a.to(torch.{dtype})", ALL) for dtype in ALL],
}
OF_A_KERNEL = 12  # operators: a compiler may take 30 s for a kernel, also on a busy machine
# Operators that may give a zero of the other sign: PyTorch's own differs between instruction sets.
ANY_ZERO = ("maximum", "minimum", "max", "min", "clamp", "clamp_min", "clamp_max")


def special_values(dtype):
    """The special values of a dtype, as many for each."""
    kind = getattr(torch, dtype)
    if kind.is_floating_point:
        info = torch.finfo(kind)
        values = [math.nan, math.inf, -math.inf, 0.0, -0.0, 1.0, -1.0, 0.1, -0.3, 2.5, -2.5, 3.0, 7.0, 0.5, -1.5, 20.5, -90.0, 100.7,
                  -300.25, 40000.0, info.max, info.min, info.tiny, info.tiny / 4, -info.tiny / 2, info.eps, 1 + info.eps, -1e-4]
        if dtype != "float16":
            values += [3e9, -3e9, 1e19, 1e-10]
        return torch.tensor(values + [0.3] * (32 - len(values)), dtype=torch.float64).to(kind)
    if kind == torch.bool:
        return torch.tensor([True, False] * 16)
    info = torch.iinfo(kind)
    values = [0, 1, 2, 3, 7, 44, 100, 127, info.max, info.max - 1, info.min, info.min + 1, info.max // 2, info.max // 3 + 1]
    if info.min < 0:
        values += [-1, -2, -3, -100, -128, info.min // 2, info.min // 3]
    if info.bits > 16:
        values += [70000, -70000, 46341]
    return torch.tensor((values + [5] * 32)[:32], dtype=kind)


def inputs_of(dtype):
    """Every pair of special values in a and b, and in b and c."""
    values = special_values(dtype)
    count = len(values)
    at = torch.arange(count * count)
    first, second = at // count, at % count
    return {"a": values[first], "b": values[second], "c": values[(first + second) % count], MASK: (first * 5 + second) % 3 == 0,
            "s": torch.tensor(0.1), "n": torch.tensor(300)}


class Group:
    """Operators on the inputs of one dtype, as a part of a graph whose tensors have the dtype's name before theirs."""

    def __init__(self, dtype, number, cases):
        self.dtype, self.number, self.cases = dtype, number, cases
        self.inputs = {f"{dtype}_{name}": tensor for name, tensor in inputs_of(dtype).items()}

    def named(self, expression):
        return re.sub(r"\b([abcmsn]|p\d+)\b(?!['(])", lambda found: f"{self.dtype}_{found[1]}", expression)

    def statements(self):
        """All operators take what one operator gives, the elements of a, so that they are one part and one kernel."""
        first = f"{self.dtype}_p{self.number} = {self.named('torch.where(m, a, a)')}"
        on_p = [self.named(re.sub(r"\ba\b(?!['(])", f"p{self.number}", case[0])) for case in self.cases]
        return [first, *(f"{self.result(i)} = {expression}" for i, expression in enumerate(on_p))]

    def result(self, i):
        return f"{self.dtype}_{self.number}_{i}"


def bits_of(tensor):
    return tensor.view({1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}[tensor.element_size()])


def steps_between(found, expected):
    """Units in the last place between finite numbers."""
    a, b = bits_of(found).to(torch.int64), bits_of(expected).to(torch.int64)
    top = 1 << (8 * found.element_size() - 1)
    a, b = (torch.where(x < 0, -(x + top), x) for x in (a, b))
    return (a - b).abs()


def difference(found, expected, ulps, name):
    """None, or the first place where the tensors differ."""
    if found.dtype != expected.dtype or found.shape != expected.shape:
        return f"{found.dtype} {tuple(found.shape)}, expected {expected.dtype} {tuple(expected.shape)}"
    same = bits_of(found) == bits_of(expected) if expected.dtype != torch.bool else found == expected
    if expected.dtype.is_floating_point:
        same |= found.isnan() & expected.isnan()
        if name in ANY_ZERO:
            same |= (found == 0) & (expected == 0)
        if name == "remainder":  # PyTorch's vectors give NaN where a quotient is beyond the type
            same |= found.isfinite() & expected.isnan()
        if ulps:
            # PyTorch's functions take results near the smallest normal number for 0, as do some those below 1e-9, infinity for the
            # largest, and give NaN for some infinities.
            tiny, huge = 2 * torch.finfo(expected.dtype).tiny, torch.finfo(expected.dtype).max / 2
            same |= (found.abs() <= tiny) & (expected.abs() <= tiny) | found.isinf() & expected.isnan()
            same |= (found.abs() < 1e-9) & (expected == 0) | (found.sign() == expected.sign()) & (found.abs() >= huge) & expected.isinf()
            finite = found.isfinite() & expected.isfinite()
            same |= finite & (steps_between(torch.where(finite, found, 0), torch.where(finite, expected, 0)) <= ulps)
    if same.all():
        return None
    at = int((~same.flatten()).nonzero()[0])
    return f"{int((~same).sum())} of {same.numel()} differ, first at {at}: {found.flatten()[at].item()!r}, expected {expected.flatten()[at].item()!r}"


class Operators(AuthoredCase):
    def compare(self, name, groups):
        """Writes one graph of all groups, runs it with the passes of the author, and compares each result with PyTorch's."""
        inputs = {key: tensor for group in groups for key, tensor in group.inputs.items()}
        statements = [line for group in groups for line in group.statements()]
        results = [group.result(i) for group in groups for i in range(len(group.cases))]
        found, left = self.outputs(name, inputs, statements, results)
        self.assertEqual(left, [])
        names = {key: tensor.to(self.device) for key, tensor in inputs.items()} | {"torch": torch}
        torch.set_num_threads(1)
        at = 0
        for group in groups:
            for i, line in enumerate(group.statements()):
                exec(line, names)  # noqa: S102
                if i == 0:
                    continue
                case = group.cases[i - 1]
                expected = names[group.result(i - 1)].cpu()
                wrong = difference(found[f"out_{at}"], expected, *case[2:])
                with self.subTest(operator=case[0], dtype=group.dtype):
                    self.assertIsNone(wrong)
                at += 1

    def groups(self, tables, full):
        """Returns groups of operators to hold against PyTorch, each of one dtype."""
        by_dtype = {dtype: [] for dtype in ALL}
        turn = 0
        for table in tables:
            for name, cases in table.items():
                for expression, dtypes, *ulps in cases:
                    if ulps and not full:
                        continue
                    for dtype in dtypes if full else [dtypes[turn % len(dtypes)]]:
                        by_dtype[dtype].append((expression, dtypes, *(ulps or [0]), name))
                    turn += 1
        return [Group(dtype, i, cases[i:i + OF_A_KERNEL]) for dtype, cases in by_dtype.items() for i in range(0, len(cases), OF_A_KERNEL)]

    def test_each_row_is_held_against_pytorch(self):
        rows = (SOURCE / "src" / "author" / "define" / "pointwise_rows.cpp").read_text()
        names = set(re.findall(r'^    \{"(\w+)"', rows, re.MULTILINE))
        self.assertEqual(names - set(OPERATORS), set())

    def test_operators_are_as_in_pytorch_at_special_values(self):
        groups = self.groups([OPERATORS], FULL)
        for dtype in ALL if FULL else ("all",):
            with self.subTest(graph=dtype):
                self.compare(f"at_{dtype}", [one for one in groups if not FULL or one.dtype == dtype])

    def test_places_and_weights_of_pictures_are_as_in_pytorch(self):
        draw = torch.Generator().manual_seed(57)
        small, large = (torch.randn((1, 2, *size), generator=draw) for size in ((20, 31), (40, 40)))
        inputs = {"a": small, "b": large.half()}
        calls = [f"{F}interpolate(a, (33, 47), mode = 'bilinear', align_corners = False)",
                 f"{F}interpolate(b, scale_factor = 2.5, mode = 'bilinear', align_corners = False)"]
        found, left = self.outputs("pictures", inputs, [f"{name} = {call}" for name, call in zip("tu", calls)], ["t", "u"])
        self.assertEqual(left, [])
        sized, scaled = (eval(call, {"torch": torch, **inputs}) for call in calls)  # noqa: S307
        self.assertLess(float((found["out_0"] - sized).abs().max()), 1e-6)
        # PyTorch's instructions may round a product and a sum once or twice.
        self.assertLess(float((found["out_1"] != scaled).float().mean()), 0.05)

    def test_whole_numbers_are_divided_by_what_a_kernel_gives(self):
        a = torch.tensor([[3, -7, 100], [0, 5, -1]], dtype=torch.int32)
        found, left = self.outputs("divisors", {"a": a}, ["t = torch.abs(a)", "u = t + 1", "v = a % u"], ["u", "v"])
        self.assertEqual(len(left), 1, left)
        self.assertEqual(found["out_1"].tolist(), (a % (a.abs() + 1)).tolist())


if __name__ == "__main__":
    unittest.main(verbosity=2)
