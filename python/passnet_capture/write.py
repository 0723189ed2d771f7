"""Writes samples: graphs, list of graphs and entry script. Passes and what else lies there are left alone."""

import json
import shutil
from pathlib import Path

import torch

from .capture import capture
from .cut import cut, find_range
from .emit import GraphText, emit
from .models import calibrate_batch_norms, library_version, vary_parameters
from .samples import SampleSpec

SEED = 20

ENTRY = """#!/bin/sh
# Evaluates this sample with the passes in pass_dir; options are handed on to `passnet eval`.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
PATH="$here/../../build/bin:$PATH"
exec passnet eval "$here" "$@"
"""


def write_sample(spec: SampleSpec, out: Path) -> list[str]:
    """Captures every graph of a sample anew under out/NAME. Returns the names of the graphs."""
    root = out / spec.name
    shutil.rmtree(root / "graphs", ignore_errors=True)
    names = []
    for shape in spec.shapes:
        for dtype in spec.dtypes:
            name = f"{shape}_{dtype}"
            _write_graph(spec, shape, dtype, root / "graphs" / name)
            names.append(name)
    (root / "graph_list.txt").write_text("".join(f"{name}\n" for name in names))
    entry = root / "entry.sh"
    if not entry.exists():
        entry.write_text(ENTRY)
        entry.chmod(0o755)
    return names


def _write_graph(spec: SampleSpec, shape: str, dtype: str, directory: Path) -> None:
    torch.manual_seed(SEED)
    model = spec.make_model().eval()
    vary_parameters(model)
    inputs = spec.shapes[shape]()
    calibrate_batch_norms(model, inputs)
    model = model.to(getattr(torch, dtype))
    for name, value in inputs.items():
        if value.is_floating_point():
            inputs[name] = value.to(getattr(torch, dtype))
    full = capture(model, inputs)
    start, end = find_range(full, spec.ops.split(), spec.occurrence)
    text = emit(cut(full, start, end))
    directory.mkdir(parents=True)
    _write_files(text, directory)
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
        "start": start,
        "end": end,
    }
    # Last, because its presence says that the directory is complete.
    (directory / "graph_net.json").write_text(json.dumps(facts, indent=4) + "\n")


def _write_files(text: GraphText, directory: Path) -> None:
    (directory / "model.py").write_text(text.model)
    (directory / "weight_meta.py").write_text(text.weight_meta)
    (directory / "input_meta.py").write_text("")
    (directory / "input_tensor_constraints.py").write_text("")
    (directory / "graph_hash.txt").write_text(text.hash)
