"""Writes samples: graphs, list of graphs and entry script. Passes and what else lies there are left alone."""

import contextlib
import json
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

import torch
from torch import fx

from .capture import FullGraph, capture
from .graph_text import with_arguments_for_constants
from .meta import Recorder
from .models import calibrate_batch_norms, library_version, vary_parameters
from .one_model import SEED, piece_of, write_graph
from .samples import SampleSpec

# The same in every sample.
ENTRY = Path(__file__).parents[2] / "samples" / "vit_add_layer_norm" / "entry.sh"


class CutError(Exception):
    """The operators of a sample are not in the graph of its model; `str()` is what `passnet graph cut` says."""


def find_passnet() -> str | None:
    """The command of PATH, or else of this checkout."""
    built = Path(__file__).parents[2] / "build" / "bin" / "passnet"
    return shutil.which("passnet") or (str(built) if built.exists() else None)


def write_sample(spec: SampleSpec, out: Path, passnet: str) -> list[str]:
    """Captures every graph of a sample anew under out/NAME. Returns the names of the graphs."""
    root = out / spec.name
    shutil.rmtree(root / "graphs", ignore_errors=True)
    names = []
    for shape in spec.shapes:
        for dtype in spec.dtypes:
            name = f"{shape}_{dtype}"
            with tempfile.TemporaryDirectory() as scratch:
                whole = Path(scratch) / "whole"
                full = _write_whole(spec, shape, dtype, whole)
                _cut(passnet, spec, whole, root / "graphs" / name)
            _record_real_values(full, root / "graphs" / name)
            names.append(name)
    (root / "graph_list.txt").write_text("".join(f"{name}\n" for name in names))
    entry = root / "entry.sh"
    if not entry.exists():
        shutil.copy(ENTRY, entry)
    return names


def _write_whole(spec: SampleSpec, shape: str, dtype: str, directory: Path) -> FullGraph:
    """The graph of the whole model, written as a graph directory."""
    torch.manual_seed(SEED)
    model = spec.make_model().eval()
    vary_parameters(model)
    inputs = spec.shapes[shape]()
    calibrate_batch_norms(model, inputs)
    model = model.to(getattr(torch, dtype))
    for name, value in inputs.items():
        if value.is_floating_point():
            inputs[name] = value.to(getattr(torch, dtype))
    facts = {
        "framework": "torch",
        "num_devices_required": 1,
        "num_nodes_required": 1,
        "dynamic": False,
        "model_name": spec.model_name,
        "source": spec.library,
        "library_version": library_version(spec.library),
        "torch_version": torch.__version__.split("+")[0],
        "data_type": dtype,
        "input_shapes": {name: list(value.shape) for name, value in inputs.items()},
    }
    full = with_arguments_for_constants(capture(model, inputs))
    write_graph(piece_of(full, Recorder()), "", facts, directory)
    return full


def _cut(passnet: str, spec: SampleSpec, whole: Path, out: Path) -> None:
    """The operators of the sample as a graph directory."""
    command = [passnet, "graph", "cut", whole, "--ops", spec.ops, "--occurrence", str(spec.occurrence), "--out", out, "--quiet"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise CutError(done.stderr.strip().removeprefix("error: "))


def _record_real_values(full: FullGraph, piece: Path) -> None:
    """Records anew what flows into a piece: replayed weights are smaller than real ones, and so is what comes of them."""
    start = json.loads((piece / "graph_net.json").read_text())["start"]
    records = (piece / "weight_meta.py").read_text()
    names = re.findall(r'^    name = "(.*)"\n    original_name = "(.*)"$', records, re.MULTILINE)
    values = _values_before(full, full.body()[start], [original for _, original in names])
    recorder = Recorder()
    texts = [recorder.record(name, values[original], original) for name, original in names]
    (piece / "weight_meta.py").write_text("\n\n".join(texts))


class _StopAt(fx.Interpreter):
    """Runs a graph up to one node and keeps copies of all values as they are then."""

    def __init__(self, full: FullGraph, stop: fx.Node, wanted: list[str]):
        super().__init__(full.module, garbage_collect_values=False)
        self.stop, self.wanted, self.values = stop, set(wanted), {}

    def run_node(self, node: fx.Node):
        if node is not self.stop:
            return super().run_node(node)
        for known, value in self.env.items():
            name = known.target if known.op == "placeholder" else known.name
            if name in self.wanted:
                self.values[name] = value.detach().clone()
        raise StopIteration


def _values_before(full: FullGraph, stop: fx.Node, wanted: list[str]) -> dict[str, torch.Tensor]:
    """By name, before `stop` may change them."""
    runner = _StopAt(full, stop, wanted)
    with torch.no_grad(), contextlib.suppress(StopIteration):
        runner.run(*full.inputs, enable_io_processing=False)
    return runner.values
