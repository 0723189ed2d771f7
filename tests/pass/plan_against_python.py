"""Runs the same plans with our interpreter (plan_probe) and with Python and PyTorch, and compares.

The plans are random: arithmetic over integers and floats, sequences, strings, and chains of views of strided tensors. Where
Python gives a value ours must give the same; where PyTorch copies or raises ours must give an error, and the reverse.

Quick tier: a third of the plans of each kind.
"""
import json
import math
import random
import subprocess
import sys

from tiers import FULL

try:
    import torch
except ImportError:
    print("skipped: no torch")
    sys.exit(77)

PART = 1 if FULL else 3
INT64 = range(-(2**63), 2**63)
HEADER = "import math, torch\ndef replacement_args(x):\n    return (x,)\ndef plan(x):\n"
FOOTER = "def replacement_func():\n    return plan\n"


class Kernel:
    """Stands for a kernel: records the arguments it is launched with."""

    def __init__(self):
        self.calls = []

    def __getitem__(self, grid):
        return lambda *args: self.calls.append((grid, args))


def number(rng):
    return rng.choice(["0", "1", "2", "3", "7", "10", "255", "1024", "0.5", "2.5", "1e3", "True", "9223372036854775807"])


def arithmetic(rng, depth):
    if depth == 0:
        return number(rng)
    part = lambda: arithmetic(rng, depth - 1)
    return rng.choice([
        lambda: f"({part()} {rng.choice(['+', '-', '*', '/', '//', '%'])} {part()})",
        lambda: f"({part()} ** {rng.choice(['0', '1', '2', '3', '-1', '0.5'])})",
        lambda: f"({part()} {rng.choice(['<<', '>>'])} {rng.choice(['0', '1', '5', '62', '63', '70', '-1', 'True'])})",
        lambda: f"({part()} {rng.choice('&|^')} {part()})",
        lambda: f"({part()} {rng.choice('+&|^<')} {part()} {rng.choice('-*&|^')} {part()})",
        lambda: f"(~{part()})",
        lambda: f"(-{part()})",
        lambda: f"({part()} if {part()} {rng.choice(['<', '<=', '==', '!=', '>', '>='])} {part()} else {part()})",
        lambda: f"({part()} {rng.choice(['and', 'or'])} {part()})",
        lambda: f"(1 if {part()} < {part()} <= {part()} else 0)",
        lambda: f"{rng.choice(['min', 'max'])}({part()}, {part()})",
        lambda: f"abs({part()})",
        lambda: f"int({part()})",
        lambda: f"round({part()})",
        lambda: f"math.{rng.choice(['ceil', 'floor', 'sqrt'])}({part()})",
        lambda: f"sum([{part()}, {part()}, {part()}])",
        lambda: f"({part()}, {part()}, {part()})[{rng.randrange(-3, 3)}]",
    ])()


def sequence(rng, depth):
    if depth == 0:
        return rng.choice(["(1, 2, 3)", "tuple(range(5))", "(4,)", "()", "tuple(range(7, -3, -2))"])
    part = lambda: sequence(rng, depth - 1)
    bound = lambda: rng.choice(["", "0", "1", "2", "-1", "-3", "9", "-9"])
    return rng.choice([
        lambda: f"({part()} + {part()})",
        lambda: f"({part()} * {rng.randrange(-1, 4)})",
        lambda: f"{part()}[{bound()}:{bound()}]",
        lambda: f"{part()}[{bound()}:{bound()}:{rng.choice(['1', '2', '-1', '-2'])}]",
        lambda: f"tuple([v * 2 for v in {part()} if v != 2])",
        lambda: f"tuple(a + b for a, b in zip({part()}, {part()}))",
        lambda: f"tuple(i * v for i, v in enumerate({part()}, 1))",
        lambda: f"tuple(v - w for v in {part()} if v != 2 for w in range(v) if w)",
        lambda: f"tuple(reversed({part()}))",
        lambda: f"(*{part()}, 5, *{part()})",
        lambda: f"{{1: {part()}, 2: (8,)}}[{rng.choice(['1', '2', 'True', '3'])}]",
    ])()


def words(rng, depth):
    """An expression whose value is a string, or a list of them."""
    if depth == 0:
        return repr(rng.choice(["", "a", "conv_3_bias", " a  b ", "route_B16", "x,y,,z", "_", "12"]))
    part = lambda: words(rng, depth - 1)
    short = lambda: repr(rng.choice(["_", "a", ",", "b_", "1", " "]))
    return rng.choice([
        lambda: f"({part()} + {part()})",
        lambda: f"{part()}.split({short()})[{rng.randrange(-2, 2)}]",
        lambda: f"{part()}.split({short()}, {rng.randrange(-1, 3)})[0]",
        lambda: f"' '.join({part()}.split())",
        lambda: f"{part()}.{rng.choice(['lower', 'upper', 'strip'])}()",
        lambda: f"{part()}.strip({short()})",
        lambda: f"{part()}.replace({short()}, {short()})",
        lambda: f"str({part()}.{rng.choice(['startswith', 'endswith'])}({short()}))",
        lambda: f"str({part()}.isdigit())",
        lambda: f"str({arithmetic(rng, 1)})",
        lambda: f"str({sequence(rng, 1)})",
        lambda: f"f'{{{rng.choice(['1 + 2', '2 ** 0.5', '(1, None)', 'True', '[0.1, 1e-7]'])}}}{rng.choice(['', '{{x}}', ' y'])}'",
        lambda: f"{{1: {part()}, 'k': {part()}}}.get({rng.choice(['1', repr('k'), '2'])}, 'none')",
    ])()


def view_step(rng):
    dim = lambda: rng.randrange(-3, 3)
    size = lambda: rng.choice([-1, 0, 1, 1, 2, 3, 4, 6, 8, 12])
    items = ["0", "1", "-1", ":", ":", "1:", ":-1", "::2", "1:3", "None", "..."]
    shape = lambda: [size() for _ in range(rng.randrange(1, 4))]
    return rng.choice([
        lambda: f".view({', '.join(map(str, shape()))})",
        lambda: f".reshape({tuple(shape())})",
        lambda: f".permute({', '.join(map(str, rng.sample([0, 1, 2], 3)))})",
        lambda: f".transpose({dim()}, {dim()})",
        lambda: ".t()",
        lambda: f".unsqueeze({dim()})",
        lambda: f".squeeze({dim()})",
        lambda: ".squeeze()",
        lambda: f".expand({', '.join(map(str, shape()))})",
        lambda: f".flatten({dim()}, {dim()})",
        lambda: ".flatten()",
        lambda: f".narrow({dim()}, {rng.randrange(-2, 3)}, {rng.randrange(0, 3)})",
        lambda: f".select({dim()}, {rng.randrange(-3, 3)})",
        lambda: f"[{', '.join(rng.sample(items, rng.randrange(1, 4)))}]",  # at most one '...'
        lambda: ".contiguous()",
        lambda: ".clone()",
        lambda: ".to(torch.float64)",
        lambda: ".reshape(-1)",
        lambda: ".detach()",
    ])()


def program(rng):
    """Statements over lists, dicts, functions and exceptions that end in launches of what they made."""
    n = lambda: rng.choice(["0", "1", "2", "-1", "3"])
    item = lambda: rng.choice(["n", "len(a)", "m", "a[0]", "a[-1]", "d.get('k', 4)", n()])
    top = rng.choice([
        "SEEN = []\nTABLE = {}\nfor i in range(3):\n    TABLE[i] = i * i\n",
        "SEEN = [1]\nTABLE = {k: len(k) for k in ('a', 'bc', 'k')}\n",
        "try:\n    import no_such_module\nexcept ImportError:\n    SEEN = [5]\nelse:\n    SEEN = []\nTABLE = {}\n",
        "if 'x' in 'xyz':\n    SEEN, TABLE = [2, 3], {0: 1, 'k': 7}\n",
    ])
    top += rng.choice([
        "def f(p, q=2, *rest, **named):\n    SEEN.append(p)\n    return p + q * len(rest) + len(named)\n",
        "def f(p, q=3, *rest, **named):\n    def g(r):\n        return r + p\n    return sum(map(g, (q, *rest))) - sum(named.values())\n",
        "def f(*rest, **named):\n    global SEEN\n    SEEN = SEEN + [len(rest)]\n    return len(SEEN) + named.get('z', 0)\n",
        "def make(k):\n    return lambda p, *rest, **named: p * k + len(rest)\nf = make(3)\n",
    ])
    lines = ["a = [3, 1, 2]", "d = {'k': 1}", "n, m = 2, 5"]
    for _ in range(rng.randrange(1, 7)):
        lines.append(rng.choice([
            lambda: f"a.append({item()})",
            lambda: f"a.insert({n()}, {item()})",
            lambda: f"a += [{item()}, {item()}]",
            lambda: f"a[{n()}] = {item()}",
            lambda: f"n = a.pop({rng.choice(['', '0', '-1'])})",
            lambda: f"d[{rng.choice(['n', repr('k'), '(1, n)'])}] = {item()}",
            lambda: f"d.update({{{item()}: {item()}}})",
            lambda: f"d.setdefault({item()}, {item()})",
            lambda: f"n = d.pop({item()}, {item()})",
            lambda: f"n, *a = {rng.choice(['a', 'sorted(a)', '[n, m, n]', 'list(reversed(a))'])}",
            lambda: "a.reverse()",
            lambda: f"a = sorted(a, key=lambda v: (v % 3, v), reverse={rng.choice(['True', 'False'])})",
            lambda: f"n = f({item()}, {item()})",
            lambda: f"m = f({item()}, *a[:2], z={item()})",
            lambda: f"m = f(**{{'p': {item()}}})",
            lambda: f"b = a\n    b.append({item()})",
            lambda: f"n, m = divmod({item()}, {rng.choice(['2', '3', 'n'])})",
            lambda: f"n = int(f'{{{item()}:>4d}}') + len(f'{{{rng.choice(['1.5', '2.0', '1e9'])}:.{rng.randrange(4)}f}}')",
            lambda: f"try:\n        n = d[{item()}]\n    except KeyError:\n        n = {item()}\n    finally:\n        m += 1",
            lambda: f"try:\n        assert {item()} < {item()}, 'no'\n    except AssertionError as e:\n        m = len(str(e))",
            lambda: f"for v in a:\n        if v > {n()}:\n            a.append(9) if len(a) < 5 else None\n            continue\n        m += v",
            lambda: f"while len(a) > {rng.choice(['1', '2'])}:\n        a.pop()",
            lambda: "SEEN.append(len(SEEN))",
            lambda: f"m = len(TABLE) + TABLE.get({item()}, 0) + sum(SEEN)",
            lambda: "d = {k: v for k, v in d.items() if v != 1}",
            lambda: f"n = (1 if isinstance({item()}, (int, float)) else 0) + (1 if a is a else 2)",
            lambda: f"del d[{rng.choice([repr('k'), 'n'])}]",
            lambda: f"raise ValueError(f'{{{item()}}}')" if rng.random() < 0.2 else "pass",
        ])())
    lines.append("kernel[1](n, m, len(a), len(d), len(SEEN), *a, *[v for v in d.values()])")
    return top, "".join(f"    {line}\n" for line in lines)


def random_tensor(rng):
    shape = [rng.choice([0, 1, 1, 2, 3, 4]) if rng.random() < 0.9 else 6 for _ in range(rng.randrange(0, 4))]
    strides = list(torch.empty(shape).stride())
    if rng.random() < 0.3:
        strides = [rng.choice([0, 1, 2, s, s * 2]) for s in strides]
    order = list(range(len(shape)))
    if rng.random() < 0.4:
        rng.shuffle(order)
    return {"dtype": "float32", "shape": [shape[i] for i in order], "strides": [strides[i] for i in order]}


def run_python(text, tensor):
    """What Python says: ("value", …) or ("error", why)."""
    space = {"kernel": Kernel()}
    try:
        x = torch.empty_strided(tensor["shape"], tensor["strides"])
        exec(compile(text, "P.py", "exec"), space)
        out = space["plan"](x)
    except Exception as problem:  # whatever Python or PyTorch raises
        return "error", repr(problem)
    launched = [value for _, args in space["kernel"].calls for value in args]
    if any(isinstance(v, complex) or (isinstance(v, int) and v not in INT64) for v in launched):
        return "error", "outside 64 bits"
    if launched:
        return "value", launched
    if -1 in out.shape:
        return "error", "PyTorch lets -1 through when it expands an empty tensor"
    copied = out.untyped_storage().data_ptr() != x.untyped_storage().data_ptr()
    return "value", [list(out.shape), list(out.stride()), "a copy" if copied else out.storage_offset()]


def read_scalar(argument):
    (kind, value), = argument.items()
    return float(value) if kind == "float" else value


def run_ours(answer):
    if "error" in answer:
        return "error", answer["error"]
    copied = [launch for launch in answer["launches"] if launch["kernel"] == "passnet_copy"]
    if answer["launches"] and not copied:
        return "value", [read_scalar(a) for a in answer["launches"][0]["args"]]
    out = answer["outputs"][0]
    return "value", [out["shape"], out["strides"], "a copy" if out["buffer"] > 0 else out["offset"]]


def same(a, b):
    """Equal values of equal types; strides of size 1 and of empty tensors mean nothing."""
    if a[0] != b[0]:
        return False
    if a[0] == "error":
        return True
    a, b = a[1], b[1]
    if a and isinstance(a[0], list):
        if a[0] != b[0] or a[2] != b[2]:
            return a[0] == b[0] and 0 in a[0]
        return 0 in a[0] or all(s == 1 or p == q for s, p, q in zip(a[0], a[1], b[1]))
    equal = lambda p, q: type(p) is type(q) and (p == q or (p != p and q != q))
    return len(a) == len(b) and all(map(equal, a, b))


def beyond_ours(text):
    """Ours has neither integers over 64 bits nor complex numbers: an intermediate value may fail, the result not."""
    return "overflow" in text or "does not fit into 64 bits" in text or "is not a real number" in text


def main():
    rng = random.Random(7)
    cases = []
    for _ in range(3000 // PART):
        body = f"    kernel[1]({arithmetic(rng, rng.randrange(1, 4))})\n    return x\n"
        cases.append((HEADER + body + FOOTER, {"dtype": "float32", "shape": [2], "strides": [1]}))
    for _ in range(2000 // PART):
        items = sequence(rng, rng.randrange(0, 4))
        body = f"    s = {items}\n    kernel[1](len(s))\n    for v in s:\n        kernel[1](v)\n    return x\n"
        cases.append((HEADER + body + FOOTER, {"dtype": "float32", "shape": [2], "strides": [1]}))
    for _ in range(2000 // PART):
        written = words(rng, rng.randrange(1, 4))
        try:
            value = eval(written)
        except Exception:
            value = None
        body = f"    kernel[1](1 if {written} == {value!r} else 0)\n    return x\n"
        cases.append((HEADER + body + FOOTER, {"dtype": "float32", "shape": [2], "strides": [1]}))
    for _ in range(4000 // PART):
        top, body = program(rng)
        cases.append((top + HEADER + body + "    return x\n" + FOOTER, {"dtype": "float32", "shape": [2], "strides": [1]}))
    for _ in range(6000 // PART):
        chain = "".join(view_step(rng) for _ in range(rng.randrange(1, 4)))
        cases.append((HEADER + f"    return x{chain}\n" + FOOTER, random_tensor(rng)))
    for _ in range(2000 // PART):
        tensor = random_tensor(rng)
        body = "    y = torch.empty_like(x)\n" + "".join(f"    kernel[1](y.stride({d}))\n" for d in range(len(tensor["shape"])))
        cases.append((HEADER + body + "    kernel[1](x.is_contiguous())\n    return x\n" + FOOTER, tensor))

    requests = "".join(json.dumps({"text": t, "inputs": [x], "outputs": 1}) + "\n" for t, x in cases)
    answers = subprocess.run([sys.argv[1]], input=requests, capture_output=True, text=True, check=True).stdout.splitlines()
    assert len(answers) == len(cases), f"{len(answers)} answers to {len(cases)} plans"
    wrong, values = 0, 0
    for (text, tensor), line in zip(cases, answers):
        answer = json.loads(line)
        if "launches" in answer and answer["launches"] and "buffer" not in answer["launches"][0]["args"][0]:  # one list over all launches
            answer["launches"][0]["args"] = [a for launch in answer["launches"] for a in launch["args"]]
        ours, python = run_ours(answer), run_python(text, tensor)
        values += ours[0] == "value"
        if same(ours, python) or (ours[0] == "error" and beyond_ours(ours[1])):
            continue
        wrong += 1
        if wrong <= 10:
            print(f"--- {tensor}\n{text}ours:   {ours}\npython: {python}")
    print(f"{len(cases)} plans, {values} with a value, {wrong} differ")
    assert values > len(cases) // 4, "the plans hardly test anything"
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
