"""Checks src/ir/ops/table_rows.h against the installed PyTorch: every spelling exists, and its parameters have the names,
the order and the defaults that PyTorch gives them, by Python signature or by operator schema.

Also the costs that it gives operators, against PyTorch's tag `pointwise`.

Usage: op_table_rows_test.py PATH_OF_op_table_rows.h [INVENTORY.tsv]
Exit code 0: all rows agree. 1: the disagreements are printed. 77: there is no PyTorch to compare with.
"""
import ast
import csv
import inspect
import os
import re
import sys

try:
    import torch
    import torch.nn.functional as F
except ImportError:
    print("no PyTorch in", sys.executable)
    sys.exit(77)

MODULES = {"torch": "torch.", "F": "torch.nn.functional.", "T": "Tensor.", "nn": "torch._C._nn.", "fn": "torch.functional."}
# Facts of Python bindings that neither a signature nor a schema shows; each is used by a graph of the inventory or in
# PyTorch's documentation.
BINDINGS = {
    "torch.einsum": ["equation", "operands"], "torch.functional.einsum": ["equation", "operands"],
    "torch.nonzero": ["as_tuple"], "Tensor.nonzero": ["as_tuple"], "Tensor.to": ["other"], "Tensor.cuda": ["non_blocking"],
    "Tensor.__getitem__": ["input", "index"],
    "Tensor.where": ["input", "other"],  # x.where(condition, other): the schema names x `self`, in second place
    "torch.arange": ["start", "step"], "torch.randint": ["low"],  # arange(end): start and step are then 0 and 1
}
# Keywords every factory function takes; schemas list some of them, Python bindings all.
FACTORY = {"dtype", "layout", "device", "pin_memory", "requires_grad", "memory_format", "generator", "out", "names"}
IN_PLACE_OPERATORS = {"+=": "__iadd__", "-=": "__isub__", "*=": "__imul__", "/=": "__itruediv__", "//=": "__ifloordiv__",
                      "**=": "__ipow__", "%=": "__imod__", "&=": "__iand__", "|=": "__ior__", "^=": "__ixor__",
                      "<<=": "__ilshift__", ">>=": "__irshift__"}


class Parameter:
    """One parameter of a row, in the grammar of src/ir/ops/signature.h."""

    def __init__(self, text, keyword_only):
        self.mark = text[0] if text[0] in "*~!" else ""
        text = text[len(self.mark):]
        text, equals, self.default_text = text.partition("=")
        text, _, self.role = text.partition("%")
        text, _, self.kind = text.partition(":")
        name, _, call_name = text.partition("@")
        self.name, self.call_name = name, call_name or name
        self.required = not equals
        self.keyword_only = keyword_only

    def default(self):
        if self.default_text.startswith("torch."):
            return getattr(torch, self.default_text[6:])
        return ast.literal_eval(self.default_text)


def split_top(text):
    """Splits at commas outside parentheses."""
    parts, depth, start = [], 0, 0
    for i, c in enumerate(text + ","):
        depth += (c == "(") - (c == ")")
        if c == "," and depth == 0:
            parts.append(text[start:i].strip())
            start = i + 1
    return [p for p in parts if p]


def parse_parameters(text):
    parameters, keyword_only = [], False
    for part in split_top(text):
        if part == "*":
            keyword_only = True
            continue
        parameters.append(Parameter(part, keyword_only))
        keyword_only = keyword_only or part[0] == "*"
    return parameters


def expand(token, name):
    for short, module in MODULES.items():
        if token == short:
            return module + name
        if token == short + "_":
            return module + name + "_"
        if token.startswith(short + ".") and short != "torch":
            return module + token[len(short) + 1:]
    return token


def read_rows(path):
    row = re.compile(r'^\{"([^"]*)", "([^"]*)", "([^"]*)", "([^"]*)"(?:, "[^"]*")?\},$')
    rows = []
    for number, line in enumerate(open(path, encoding="utf-8"), 1):
        if line.startswith("{"):
            found = row.match(line)
            assert found, f"{path}:{number}: not a row: {line}"
            name, spellings, parameters, flags = found.groups()
            for token in spellings.split():
                rows.append((number, name, expand(token, name), parse_parameters(parameters), flags))
    return rows


def resolve(spelling):
    """The Python object of a spelling, or None."""
    if spelling.startswith("Tensor."):
        return getattr(torch.Tensor, spelling[7:], None)
    value = sys.modules.get("torch")
    for part in spelling.split(".")[1:]:
        value = getattr(value, part, None)
    return value


def python_signature(function):
    """Parameters of a Python function, or None for a builtin."""
    dispatched = {F.max_pool1d: F.max_pool1d_with_indices, F.max_pool2d: F.max_pool2d_with_indices,
                  F.max_pool3d: F.max_pool3d_with_indices, F.adaptive_max_pool1d: F.adaptive_max_pool1d_with_indices,
                  F.adaptive_max_pool2d: F.adaptive_max_pool2d_with_indices,
                  F.adaptive_max_pool3d: F.adaptive_max_pool3d_with_indices}
    try:
        parameters = list(inspect.signature(dispatched.get(function, function)).parameters.values())
    except (TypeError, ValueError):
        return None
    kinds = {p.kind for p in parameters}
    return None if inspect.Parameter.VAR_KEYWORD in kinds or not inspect.isfunction(dispatched.get(function, function)) else parameters


def same_default(row, value):
    if isinstance(value, (list, tuple)):
        value = tuple(value)
        if len(value) == 0:
            value = None
        elif isinstance(row, (int, float)) and len(set(value)) == 1:
            value = value[0]
    if value == "valid":  # of a convolution's padding: the same as 0
        value = 0
    if isinstance(row, bool) != isinstance(value, bool):
        return False
    return row == value or (isinstance(row, float) and isinstance(value, (int, float)) and abs(row - value) < 1e-15)


def check_python(parameters, signature, is_method):
    """Problems of a row against a Python signature."""
    given = [p for p in parameters if p.mark != "!"]
    actual = [p for p in signature if p.name != "out"]
    if len(given) < len([p for p in actual if p.default is p.empty and p.kind is not p.VAR_POSITIONAL]):
        return [f"has {[p.call_name for p in given]}, PyTorch has {[p.name for p in actual]}"]
    problems = []
    for i, p in enumerate(given):
        if is_method and i == 0:
            continue
        theirs = next((a for a in actual if a.name == p.call_name or (i == 0 and a.name == "self")), None)
        if theirs is None:
            problems.append(f"PyTorch has no parameter {p.call_name!r}, it has {[a.name for a in actual]}")
        elif p.mark == "*":
            continue
        elif not p.keyword_only and actual.index(theirs) != i:
            problems.append(f"{p.call_name!r} is number {actual.index(theirs)} in PyTorch, number {i} here")
        elif p.required != (theirs.default is theirs.empty):
            problems.append(f"{p.call_name!r}: required here: {p.required}, in PyTorch: {theirs.default is theirs.empty}")
        elif not p.required and not same_default(p.default(), theirs.default):
            problems.append(f"default of {p.call_name!r} is {theirs.default!r} in PyTorch, {p.default()!r} here")
    return problems


def schemas_of(spelling):
    last = spelling.split(".")[3] if spelling.startswith("torch.ops.aten.") else spelling.rsplit(".", 1)[1]
    if spelling.startswith("torch.special."):
        last = "special_" + last
    if spelling.startswith("torch.linalg."):
        last = "linalg_" + last
    if spelling.startswith("torch.fft."):
        last = "fft_" + last
    found = [s for s in SCHEMAS.get("aten::" + last, []) if "Tensor" in str(s) or last.startswith("sym_")]
    return [s for s in found if not any(str(a.type) in ("str", "List[str]") and a.name in ("dim", "start_dim", "dim0") or a.is_out
                                        for a in s.arguments)]


def check_schemas(spelling, parameters, schemas):
    """Problems of a row against operator schemas: at least one overload must be covered, and together the covered ones
    must name every parameter of the row."""
    given = [p for p in parameters if p.mark != "!"]
    names = [p.call_name for p in given]
    seen, problems = set(), []
    for schema in schemas:
        arguments = [(("input" if a.name == "self" else a.name), a) for a in schema.arguments]
        if arguments and arguments[0][1].name in ("self", "input"):
            arguments[0] = (names[0], arguments[0][1])
        fixed = {p.call_name for p in parameters if p.mark == "!"}
        own = [(n, a) for n, a in arguments if n not in fixed]
        core = [(n, a) for n, a in own if n in names or n not in FACTORY]
        if any(n not in names for n, _ in core):
            continue
        positions = [names.index(n) for n, a in core if not a.kwarg_only]
        if positions != sorted(positions):
            continue
        for n, a in core:
            p = given[names.index(n)]
            if not p.required and a.has_default_value() and n not in FACTORY and p.mark != "*":
                if not same_default(p.default(), a.default_value):
                    problems.append(f"default of {n!r} is {a.default_value!r} in '{schema}', {p.default()!r} here")
            elif not p.required and not a.has_default_value() and p.default_text != "None" and p.mark != "~" and n not in (
                    "memory_format", "start", "low", "decimals"):
                problems.append(f"{n!r} is required in '{schema}', here its default is {p.default()!r}")
            seen.add(n)
    missing = [n for n in names if n not in seen and n not in FACTORY and n not in BINDINGS.get(spelling, [])]
    if missing:
        problems.append(f"no fitting schema has {missing}; schemas: " + "; ".join(str(s) for s in schemas[:6]))
    return problems


# Pointwise to a fusing compiler, which makes one loop over the result of them, though PyTorch does not tag them so: they
# read other places than their own, or none, or are made of several operators.
LOOPS = set("""
    setitem gather scatter scatter_add scatter_reduce index_select index_add index_copy index_fill index_put index
    masked_scatter take_along_dim take embedding one_hot cat stack hstack vstack repeat repeat_interleave tile roll flip
    rot90 pad diag diag_embed triu tril diff cross pixel_shuffle pixel_unshuffle channel_shuffle
    arange linspace eye zeros ones empty full rand randn randint bernoulli zeros_like ones_like empty_like full_like rand_like
    randn_like new_zeros new_ones new_empty new_full new_tensor tensor scalar_tensor fill_ zero_ copy_ normal_ uniform_
    to contiguous type_as batch_norm glu prelu softsign isin isclose polar hardswish leaky_relu logsigmoid tanhshrink
""".split())
BOTH = {"max", "min"}  # reductions, and pointwise of two tensors
CLASSES = {"free", "pointwise", "stencil", "reduce", "library"}


def is_tagged_pointwise(name, spellings):
    """Whether an overload that one of the spellings may mean has PyTorch's tag."""
    names = {name} | {"special_" + name, "_" + name} | {spelling.rsplit(".", 1)[1] for spelling in spellings if "." in spelling}
    packets = [getattr(torch.ops.aten, each) for each in names if "aten::" + each in SCHEMAS]
    return any(torch.Tag.pointwise in getattr(packet, overload).tags for packet in packets for overload in packet.overloads())


def check_costs(rows):
    """Each name has at most one class, in its first row; and pointwise are those that PyTorch says, or LOOPS."""
    problems, first, spellings = [], {}, {}
    for number, name, spelling, _, flags in rows:
        spellings.setdefault(name, set()).add(spelling)
        line, words = first.setdefault(name, (number, set(flags.split())))
        if line != number and CLASSES & set(flags.split()):
            problems.append(f"line {number}: the class of {name!r} belongs into its first row, line {line}")
    unused = set(LOOPS)
    for name, (number, words) in first.items():
        given = CLASSES & words
        cost = given.pop() if given else "free" if "view" in words else "pointwise"
        if given:
            problems.append(f"line {number}: {name!r} has more than one class")
        tagged = is_tagged_pointwise(name, spellings[name])
        if cost == "pointwise" and not tagged and name not in LOOPS:
            problems.append(f"line {number}: {name!r} counts as pointwise, and PyTorch does not say so: give it a class, or add it to LOOPS")
        if cost in ("stencil", "reduce", "library") and tagged and name not in BOTH:
            problems.append(f"line {number}: {name!r} is of class {cost!r}, and PyTorch tags it pointwise")
        if cost == "pointwise" and not tagged:
            unused.discard(name)
    return problems + [f"LOOPS names {name!r} for nothing" for name in sorted(unused)]


def main():
    rows = read_rows(sys.argv[1])
    problems, counts = [], {"python": 0, "schema": 0, "existence": 0}
    # Rows whose Python binding hides its signature and whose schema differs from it by design.
    binding_only = {"passnet.fused"}
    for number, name, spelling, parameters, flags in rows:
        where = f"line {number}: {spelling}"
        if spelling in binding_only:
            continue
        if spelling.startswith("op:"):
            method = IN_PLACE_OPERATORS.get(spelling[3:])
            if method and not hasattr(torch.Tensor, method):
                problems.append(f"{where}: torch.Tensor has no {method}")
            counts["existence"] += 1
            continue
        if spelling.startswith("attr:"):
            if not hasattr(torch.Tensor, spelling[5:]):
                problems.append(f"{where}: torch.Tensor has no attribute {spelling[5:]!r}")
            counts["existence"] += 1
            continue
        if spelling.startswith(("operator.", "_operator.")):
            counts["existence"] += 1
            continue
        target = resolve(spelling)
        if target is None:
            problems.append(f"{where}: no such function or method")
            continue
        is_method = spelling.startswith("Tensor.")
        signature = None if is_method and spelling.rsplit(".", 1)[1].startswith("__") else python_signature(target)
        if signature is not None and not any(p.kind is p.VAR_POSITIONAL and p.name in ("args",) for p in signature):
            found, counts["python"] = check_python(parameters, signature, is_method), counts["python"] + 1
        else:
            schemas = schemas_of(spelling)
            if schemas:
                found, counts["schema"] = check_schemas(spelling, parameters, schemas), counts["schema"] + 1
            else:
                found, counts["existence"] = [], counts["existence"] + 1
        problems += [f"{where}: {p}" for p in found]

    problems += check_costs(rows)
    if len(sys.argv) > 2 and os.path.exists(sys.argv[2]):
        known = {spelling for _, _, spelling, _, _ in rows}
        for record in csv.DictReader(open(sys.argv[2], encoding="utf-8"), delimiter="\t"):
            target = record["target"]
            if record["kind"] == "inplace_operator":
                target = "op:" + record["target"][len("operator:i"):] + "="
            elif record["kind"] == "operator":
                target = "op:" + target[len("operator:"):]
            elif record["kind"] == "literal_constructor":
                continue
            if target.startswith("torch.ops.aten."):
                target = ".".join(target.split(".")[:4])
            if target not in known:
                problems.append(f"the inventory's {record['target']!r} has no row")

    print("\n".join(problems))
    print(f"{len(rows)} spellings: {counts['python']} checked against Python signatures, {counts['schema']} against "
          f"schemas, {counts['existence']} for existence; {len(problems)} problems")
    return 1 if problems else 0


SCHEMAS = {}
for schema_ in torch._C._jit_get_all_schemas():
    SCHEMAS.setdefault(schema_.name, []).append(schema_)

if __name__ == "__main__":
    sys.exit(main())
