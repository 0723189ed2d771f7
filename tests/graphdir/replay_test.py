"""Replayed inputs, byte for byte, against the rule written with NumPy and PyTorch: for records of every kind made here,
for the shipped samples, and for all public graphs of moderate size.

Quick tier: each tenth of these graphs in the order of their paths. Full tier: all.
"""

import math
import pathlib
import subprocess
import sys
import tempfile

TESTS = pathlib.Path(__file__).parent.parent
sys.path[:0] = [str(TESTS / "fx"), str(TESTS)]
import corpus
from tiers import each_nth

corpus.need_torch()

import numpy
import torch

MAX_ELEMENTS = 1_000_000
RANGED = {torch.int8, torch.int16, torch.int32, torch.int64}


def read_records(path):
    """The classes of a meta file as attribute dictionaries, in the alphabetical order of their names."""
    scope = {}
    if path.exists():
        exec(compile(path.read_text(), str(path), "exec"), {"inf": math.inf, "nan": math.nan}, scope)
    records = []
    for key in sorted(scope):
        record = {k: v for k, v in vars(scope[key]).items() if not k.startswith("__")}
        record["dtype"] = getattr(torch, record["dtype"].removeprefix("torch."))
        records.append(record)
    return records


def draw_range(record):
    low, high = record.get("min_val"), record.get("max_val")
    if record["dtype"] in RANGED and low is not None and high is not None:
        drawn = numpy.random.randint(low, high + 1, size=record["shape"])
        return torch.from_numpy(numpy.asarray(drawn)).to(record["dtype"])
    if record.get("data") is not None:
        return torch.tensor(record["data"], dtype=record["dtype"]).reshape(record["shape"])
    return None


def draw_rest(record):
    shape, dtype = record["shape"], record["dtype"]
    if dtype == torch.bool:
        return torch.from_numpy(numpy.asarray(numpy.random.random_sample(shape) < 0.5))
    std, mean = record.get("std", 1.0), record.get("mean", 0.0)
    std, mean = 0.1 if std is None else std, 0.0 if mean is None else mean
    if std == 0:
        values = numpy.full(shape, mean, dtype=numpy.float64)
    else:
        values = numpy.random.standard_normal(shape) * std * 0.2 + mean
    tensor = torch.from_numpy(numpy.asarray(values)).to(dtype)
    if record.get("min_val") is not None:
        tensor = tensor.clamp(min=record["min_val"])
    if record.get("max_val") is not None:
        tensor = tensor.clamp(max=record["max_val"])
    if dtype.is_floating_point:
        tensor = torch.where(torch.isfinite(tensor), tensor.clamp(-100, 100), tensor)
    return tensor


def expected_tensors(weight_meta, input_meta):
    records = read_records(input_meta) + read_records(weight_meta)
    numpy.random.seed(123)
    first = [draw_range(record) for record in records]
    tensors = [draw_rest(record) if tensor is None else tensor for record, tensor in zip(records, first)]
    return {record["name"]: tensor for record, tensor in zip(records, tensors)}


def to_bytes(tensor):
    return tensor.contiguous().reshape(-1).view(torch.uint8).numpy().tobytes()


def check(weight_meta, input_meta, temporary):
    """Compares all tensors of one graph; returns how many."""
    if not input_meta.exists():
        input_meta = temporary / "empty.py"
        input_meta.write_text("")
    out = temporary / "tensors.bin"
    lines = subprocess.run(
        [corpus.BINARIES / "dump_replay", weight_meta, input_meta, out], check=True, capture_output=True, text=True
    ).stdout.splitlines()
    found, at = out.read_bytes(), 0
    expected = expected_tensors(weight_meta, input_meta)
    assert len(lines) == len(expected)
    for line in lines:
        name, dtype, size, non_finite = line.split()
        tensor = expected[name]
        assert str(tensor.dtype) == f"torch.{dtype}", f"{weight_meta}: {name}: dtype {dtype}, expected {tensor.dtype}"
        part = found[at : at + int(size)]
        at += int(size)
        if int(non_finite):
            assert torch.isnan(tensor).sum().item() == int(non_finite), f"{weight_meta}: {name}: {non_finite} not finite"
            continue
        assert part == to_bytes(tensor), f"{weight_meta}: {name}: the bytes differ from NumPy's and PyTorch's"
    return len(lines)


def made_records():
    """Records of every kind that the rule tells apart."""
    kinds = [
        dict(dtype="torch.float32", mean=0.25, std=1.5),
        dict(dtype="torch.float64", mean=-0.5, std=0.125),
        dict(dtype="torch.float16", mean=3.0, std=40.0),
        dict(dtype="torch.float16", mean=0.0, std=0.00001),
        dict(dtype="torch.bfloat16", mean=1.0, std=2.0),
        dict(dtype="torch.float32", mean=99.0, std=30.0),
        dict(dtype="torch.float32", mean=None, std=None),
        dict(dtype="torch.float32"),
        dict(dtype="torch.float32", mean=0.5, std=0.0),
        dict(dtype="torch.float32", mean=0.0, std=math.nan),
        dict(dtype="torch.float16", mean=0.0, std=1.0, min_val=0, max_val=0.1),
        dict(dtype="torch.bfloat16", mean=0.0, std=1.0, min_val=-0.05),
        dict(dtype="torch.bool", mean=None, std=None),
        dict(dtype="torch.int64", min_val=0, max_val=150000),
        dict(dtype="torch.int64", min_val=-7, max_val=7),
        dict(dtype="torch.int64", min_val=0, max_val=2**32 - 1),
        dict(dtype="torch.int64", min_val=-(2**40), max_val=2**50),
        dict(dtype="torch.int32", min_val=5, max_val=5),
        dict(dtype="torch.int16", min_val=-300, max_val=300),
        dict(dtype="torch.int8", min_val=-128, max_val=127),
        dict(dtype="torch.int64", mean=None, std=None),
        dict(dtype="torch.uint8", mean=None, std=None),
        dict(dtype="torch.uint8", mean=100.0, std=50.0),
        dict(dtype="torch.int32", mean=-1000.0, std=5000.0),
    ]
    records = []
    for i, kind in enumerate(kinds):
        records.append(dict(kind, shape=[3, 67]))
    records.append(dict(dtype="torch.float16", shape=[4], data=[1e6, -math.inf, 0.1, 1 + 2**-11]))
    records.append(dict(dtype="torch.float32", shape=[2, 2], data=[1.5, math.nan, math.inf, -0.0]))
    records.append(dict(dtype="torch.int64", shape=[], data=[4]))
    records.append(dict(dtype="torch.bool", shape=[3], data=[True, False, True]))
    records.append(dict(dtype="torch.float32", shape=[], mean=0.0, std=1.0))
    records.append(dict(dtype="torch.float32", shape=[0, 3], mean=0.0, std=1.0))
    return records


def write_records(path, records, prefix):
    lines = []
    for i, record in enumerate(records):
        # Class names in an order that is not the alphabetical one.
        lines.append(f"class {prefix}_{(i * 7) % 31}_{i}:\n\tname = \"{prefix}{i}\"")
        for key, value in record.items():
            text = f'"{value}"' if isinstance(value, str) else repr(value)
            lines.append(f"\t{key} = {text}")
    path.write_text("\n".join(lines) + "\n")


def elements(weight_meta):
    return sum(math.prod(record["shape"]) for record in read_records(weight_meta))


def main():
    with tempfile.TemporaryDirectory() as name:
        temporary = pathlib.Path(name)
        records = made_records()
        write_records(temporary / "weights.py", records, "weight")
        write_records(temporary / "inputs.py", records[::-1], "input")
        print(f"{check(temporary / 'weights.py', temporary / 'inputs.py', temporary)} made records agree")
        graphs = tensors = large = 0
        for path in each_nth(corpus.graph_dirs("passbench", "graphnet"), 10):
            if elements(path / "weight_meta.py") > MAX_ELEMENTS:
                large += 1
                continue
            graphs += 1
            tensors += check(path / "weight_meta.py", path / "input_meta.py", temporary)
        print(f"{tensors} tensors of {graphs} graphs agree; {large} graphs left out, with more than {MAX_ELEMENTS} elements")


if __name__ == "__main__":
    sys.exit(main())
