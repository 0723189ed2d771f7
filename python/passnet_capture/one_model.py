"""Captures one model at its shapes, and writes the directories of its graphs: all of them, or none."""

import json
import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch import nn

from . import memory
from .capture import CaptureError, FullGraph, break_reason, capture, capture_pieces
from .causes import CaptureFailure, describe, is_data_dependent, is_download, is_out_of_memory
from .constraints import constraints_text, find_symbols
from .graph_text import graph_hash, model_text, with_arguments_for_constants
from .meta import Recorder
from .models import calibrate_batch_norms, vary_parameters
from .plan import Plan, Shape

SEED = 20
MAX_PIECES = 256
# As upstream captures: item(), nonzero() and recurrent networks are nodes rather than graph breaks.
DYNAMO = {"capture_scalar_outputs": True, "capture_dynamic_output_shape_ops": True, "allow_rnn": True}
MAX_NODES = 1 << 20  # what the reader takes
PARAMETER_SHARE = 0.6  # of the memory limit; the rest is for activations and statistics
CHEAP_PARAMETERS = 300_000_000  # up to here initial values are made like those of a trained model


@dataclass
class Entry:
    """What became of one model: a line of the journal (docs/dataset.md)."""

    model: str
    source: str
    status: str = "failed"  # or "captured"
    cause: str | None = None  # one of CAUSES; None when captured
    message: str | None = None  # first line of why, with what to do
    graphs: list[str] = field(default_factory=list)  # directories, relative to the journal's
    shapes: dict[str, str] = field(default_factory=dict)  # shape -> "captured", or cause and message of why it was dropped
    seconds: float = 0.0
    peak_mb: int = 0  # largest resident memory of the process that captured it
    library_version: str | None = None
    torch_version: str | None = None
    licence: str | None = None


@dataclass
class Piece:
    """The files of one graph, before it is known which of its sizes change."""

    model: str
    hash: str
    weight_meta: str
    shapes: dict[str, list[int]]
    data_type: str
    break_reason: str | None


@dataclass
class Captured:
    """A model at one shape."""

    shape: Shape
    pieces: list[Piece]
    input_shapes: dict[str, Any]


def capture_model(make: Callable[[], Plan], facts: dict[str, Any], out: Path, scratch: Path, memory_bytes: int) -> Entry:
    """Builds and captures a model and puts its graphs at `out`; they are written to `scratch` first and then renamed.

    facts: model, source, library_version, torch_version and licence of the library.
    """
    entry = Entry(facts["model"], facts["source"], library_version=facts["library_version"],
                  torch_version=facts["torch_version"], licence=facts["licence"])  # fmt: skip
    try:
        plan, assumed = _build(make, memory_bytes)
        entry.licence = plan.licence or entry.licence
        captured = _capture_slots(plan, Recorder(assumed), entry)
        directories = _write(plan, captured, assumed, entry, scratch)
    except CaptureFailure as failure:
        entry.cause, entry.message = failure.cause, str(failure)
        return entry
    shutil.rmtree(out, ignore_errors=True)
    out.parent.mkdir(parents=True, exist_ok=True)
    os.rename(scratch, out)
    entry.status = "captured"
    entry.graphs = [str(Path(facts["source"]) / out.name / directory) for directory in directories]
    return entry


def _build(make: Callable[[], Plan], memory_bytes: int) -> tuple[Plan, bool]:
    torch.manual_seed(SEED)
    try:
        plan, assumed = memory.build_within(int(memory_bytes * PARAMETER_SHARE), make, Plan.models)
    except CaptureFailure:
        raise
    except Exception as error:
        if is_out_of_memory(error):
            raise CaptureFailure("memory", f"found {describe(error)} while the model was built, expected at most "
                                 f"{memory_bytes >> 20} MiB; raise --memory-gb") from error  # fmt: skip
        raise CaptureFailure("needs-download" if is_download(error) else "constructor", describe(error)) from error
    for model in plan.models():
        model.eval()
        if not assumed and sum(parameter.numel() for parameter in model.parameters()) <= CHEAP_PARAMETERS:
            _train_a_little(model, next(slot[-1] for slot in reversed(plan.slots) if slot[-1].model is model))
    return plan, assumed


def _train_a_little(model: nn.Module, shape: Shape) -> None:
    vary_parameters(model)
    if any(isinstance(module, nn.modules.batchnorm._BatchNorm) for module in model.modules()):
        try:
            calibrate_batch_norms(model, shape.arguments())
        except Exception:
            pass  # the initial 0 and 1 stay; a model that does not run says so when it is captured


def _capture_slots(plan: Plan, recorder: Recorder, entry: Entry) -> list[Captured]:
    """The first shape of each slot that is captured. Raises the first failure when there is none at all."""
    captured, failures = [], []
    for slot in plan.slots:
        for shape in slot:
            if entry.shapes.get(shape.tag) == "captured":
                break
            if shape.tag in entry.shapes and not entry.shapes[shape.tag].startswith("inputs: "):
                continue  # other arguments help only where these were refused
            try:
                captured.append(_capture_shape(shape, recorder))
            except CaptureFailure as failure:
                failures.append(failure)
                entry.shapes[shape.tag] = f"{failure.cause}: {failure}"
            else:
                entry.shapes[shape.tag] = "captured"
                break
    if not captured:
        raise failures[0]
    return captured


def _capture_shape(shape: Shape, recorder: Recorder) -> Captured:
    torch.manual_seed(SEED)
    try:
        arguments = shape.arguments()
    except Exception as error:
        raise CaptureFailure("inputs", f"{describe(error)} while arguments were made") from error
    try:
        pieces = _capture_whole(shape, arguments, recorder)
    except _Broken as first:
        if recorder.assumed:
            raise CaptureFailure("too-large", f"found a graph break ({first}), and parameters too large to run the pieces; "
                                 "raise --memory-gb") from first  # fmt: skip
        _check_that_it_runs(shape, arguments)
        try:
            pieces = _capture_whole(shape, arguments, recorder)  # what a first call imports or caches breaks no second one
        except _Broken as second:
            pieces = _capture_broken(shape, arguments, recorder, str(second))
    return Captured(shape, pieces, sizes_of(arguments))


class _Broken(Exception):
    """The model is not one graph; `str()` is dynamo's reason."""


def _capture_whole(shape: Shape, arguments: dict[str, Any], recorder: Recorder) -> list[Piece]:
    """The one graph of a model. Raises _Broken when there may be pieces."""
    try:
        with torch._dynamo.config.patch(**DYNAMO):
            piece = piece_of(capture(shape.model, arguments, run=False), recorder)
    except CaptureFailure:
        raise
    except CaptureError as error:
        if error.__cause__ is None:
            raise CaptureFailure("no-graph", str(error)) from error
        raise _Broken(break_reason(error)) from error
    except Exception as error:
        if is_out_of_memory(error):
            raise CaptureFailure("memory", f"{describe(error)}; raise --memory-gb") from error
        if recorder.assumed:
            raise CaptureFailure("trace", describe(error)) from error
        raise _Broken(describe(error)) from error
    if piece is None:
        raise CaptureFailure("no-graph", "found a graph without operators, expected one at least")
    return [piece]


def _capture_broken(shape: Shape, arguments: dict[str, Any], recorder: Recorder, reason: str) -> list[Piece]:
    """All pieces of a model that dynamo breaks."""
    pieces: list[Piece] = []
    failures: list[CaptureFailure] = []

    def see(full: FullGraph) -> None:
        try:
            if len(pieces) >= MAX_PIECES:
                raise CaptureFailure("too-large", f"found more than {MAX_PIECES} pieces, expected fewer graph breaks: {reason}")
            piece = piece_of(full, recorder)
            if piece:
                pieces.append(piece)
        except CaptureFailure as failure:
            failures.append(failure)

    for settings in (DYNAMO, {"allow_rnn": True}):  # sizes that depend on data can be more than dynamo carries on with
        pieces.clear()
        failures.clear()
        try:
            with torch._dynamo.config.patch(**settings):
                capture_pieces(shape.model, arguments, see)
            error = None
            break
        except Exception as raised:
            error = raised
    if error is not None:
        if is_out_of_memory(error):
            raise CaptureFailure("memory", f"{describe(error)}; raise --memory-gb") from error
        raise CaptureFailure("data-dependent" if is_data_dependent(describe(error)) else "trace", describe(error)) from error
    if failures:
        raise failures[0]
    if not pieces:
        raise CaptureFailure("data-dependent" if is_data_dependent(reason) else "graph-break-only", reason)
    for piece in pieces[: max(1, len(pieces) - 1)]:
        piece.break_reason = piece.break_reason or reason  # a function traced to its end inside one that was not traced
    return pieces


def _check_that_it_runs(shape: Shape, arguments: dict[str, Any]) -> None:
    """Raises CaptureFailure when the model does not run without tracing either."""
    torch._dynamo.reset()
    try:
        with torch.no_grad():
            shape.model(**arguments)
    except Exception as error:
        cause = "memory" if is_out_of_memory(error) else "needs-download" if is_download(error) else "inputs"
        names = ", ".join(f"{name} {sizes}" for name, sizes in sizes_of(arguments).items())
        raise CaptureFailure(cause, f"{describe(error)} (called with {names})") from error


def piece_of(full: FullGraph, recorder: Recorder) -> Piece | None:
    """None for a graph without operators."""
    if not any(node.op.startswith("call_") for node in full.body()):
        return None
    if len(full.module.graph.nodes) > MAX_NODES:
        raise CaptureFailure("too-large", f"found {len(full.module.graph.nodes)} nodes, expected at most {MAX_NODES}")
    reason = full.break_reason()
    full = with_arguments_for_constants(full)
    graph = full.module.graph
    placeholders = [node.target for node in graph.nodes if node.op == "placeholder"]
    for name, value in zip(placeholders, full.inputs):
        if not isinstance(value, (torch.Tensor, int, torch.SymInt)):
            raise CaptureFailure("unsupported", f"found the argument '{name}' of type {type(value).__name__}, expected tensors only")
    try:
        records = [recorder.record(name, value) for name, value in zip(placeholders, full.inputs)]
    except (TypeError, NotImplementedError) as error:
        raise CaptureFailure("unsupported", describe(error)) from error
    shapes = {name: [int(size) for size in getattr(value, "shape", ())] for name, value in zip(placeholders, full.inputs)}
    return Piece(model_text(graph), graph_hash(graph), "\n\n".join(records), shapes, _data_type(full.inputs), reason)


def _data_type(inputs: list[Any]) -> str:
    """The floating dtype that most elements have."""
    counts: dict[torch.dtype, int] = {}
    for value in inputs:
        if isinstance(value, torch.Tensor) and (value.is_floating_point() or not counts):
            counts[value.dtype] = counts.get(value.dtype, 0) + value.numel() * (1 << 20 if value.is_floating_point() else 1)
    return str(max(counts, key=counts.get)).removeprefix("torch.") if counts else "none"


def sizes_of(arguments: Any) -> Any:
    """Tensors replaced by their sizes."""
    if isinstance(arguments, torch.Tensor):
        return list(arguments.shape)
    if isinstance(arguments, dict):
        return {name: sizes_of(value) for name, value in arguments.items()}
    if isinstance(arguments, (list, tuple)):
        return [sizes_of(value) for value in arguments]
    return arguments if isinstance(arguments, (int, float, str, bool, type(None))) else type(arguments).__name__


def _write(plan: Plan, captured: list[Captured], assumed: bool, entry: Entry, root: Path) -> list[str]:
    """The directories of all graphs below root. Returns their paths relative to it."""
    directories = []
    same_pieces = len({len(shape.pieces) for shape in captured}) == 1
    batches = [shape.shape.batch for shape in captured]
    for shape in captured:
        for index, piece in enumerate(shape.pieces):
            if same_pieces:
                symbols = find_symbols([other.pieces[index].shapes for other in captured], batches)
            else:
                symbols = find_symbols([piece.shapes], [shape.shape.batch])
            whole = len(shape.pieces) == 1
            directory = Path(shape.shape.tag) if whole else Path(shape.shape.tag) / f"subgraph_{index}"
            facts = {
                "framework": "torch",
                "num_devices_required": 1,
                "num_nodes_required": 1,
                "dynamic": False,
                "model_name": entry.model,
                "source": entry.source,
                "heuristic_tag": plan.heuristic_tag,
                "library_version": entry.library_version,
                "licence": entry.licence,
                "torch_version": entry.torch_version,
                "data_type": piece.data_type,
                "input_shapes": shape.input_shapes,
                "shape": shape.shape.tag,
                "reductions": plan.reductions,
                "training": False,
                "seed": SEED,
                "statistics": "assumed" if assumed else "measured",
            }
            if not whole or piece.break_reason:
                facts["break"] = {"index": index, "total": len(shape.pieces), "reason": piece.break_reason}
            write_graph(piece, constraints_text(piece.shapes, symbols), facts, root / directory)
            directories.append(str(directory))
    return directories


def write_graph(piece: Piece, constraints: str, facts: dict[str, Any], directory: Path) -> None:
    directory.mkdir(parents=True)
    (directory / "model.py").write_text(piece.model)
    (directory / "weight_meta.py").write_text(piece.weight_meta)
    (directory / "input_meta.py").write_text("")
    (directory / "input_tensor_constraints.py").write_text(constraints)
    (directory / "graph_hash.txt").write_text(piece.hash)
    # Last, because its presence says that the directory is complete.
    (directory / "graph_net.json").write_text(json.dumps(facts, indent=4) + "\n")
