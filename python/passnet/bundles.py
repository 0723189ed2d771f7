"""Bundles: one file with a graph, its weights, passes and compiled kernels, called in this process (docs/bundles.md)."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Callable, Mapping, Sequence

from . import programs
from .errors import Unsupported

if TYPE_CHECKING:
    import torch

    from .form import Form


class Bundle:
    """A loaded bundle; call it with one tensor per name in `inputs`. Its kernels run in this process.

    inputs: names of its arguments, in their order; weights of the bundle are no arguments. passes: those that were compiled into it.
    sites: places at which a pass is used here; why: the reason when there is none. graph, torch, passnet: what it was made of.
    """

    def __init__(self, path: str | Path):
        """Raises BadInput for a file that is no bundle, damaged, or of a newer version."""
        programs.require_torch()
        from . import _C

        self.path = Path(path)
        self._graph, facts = _C.load_bundle(str(path))
        facts = json.loads(facts)
        self.graph, self.torch, self.passnet = facts["graph"], facts["torch"], facts["passnet"]
        self.passes, self.weights, self.why = tuple(facts["passes"]), tuple(facts["weights"]), facts["why"]
        self.inputs, self.sites = self._graph.inputs, self._graph.sites

    def __call__(self, *tensors: torch.Tensor) -> tuple:
        """The outputs of the graph. Raises Unsupported for inputs that require gradients or lie elsewhere than on the CPU."""
        import torch

        for name, value in zip(self.inputs, tensors):
            if isinstance(value, torch.Tensor) and (not value.is_cpu or value.requires_grad and torch.is_grad_enabled()):
                found, hint = ("requires gradients", "call it under torch.no_grad()") if value.is_cpu else (f"lies on {value.device}", "give it value.cpu()")
                raise Unsupported(f"input '{name}' {found}, expected a tensor on the CPU without gradients", "unsupported", hint)
        return self._graph(*tensors)

    def __repr__(self) -> str:
        used = f"passes at {self.sites} places" if self.sites else f"without passes: {self.why}"
        return f"<passnet.Bundle {self.path}: {self.graph}, inputs {', '.join(self.inputs)}, {used}>"


def bundle(model: torch.nn.Module | Callable, args: Sequence[Any] | Mapping[str, Any], out: str | Path, *, weights: bool = True,
           targets: Sequence[str] = ("cpu",), cache_dir: str | None = None) -> Bundle:  # fmt: skip
    """Writes the one graph of `model(*args)` with the passes that are known for it, and loads the bundle.

    weights: all tensors but those of `args` are put into it. targets: as `passnet bundle --for`. Passes come from the cache: see
    tune() and trust(). Raises Unsupported at a graph break.
    """
    programs.require_torch()
    from . import cache
    from .graph import write
    from .rewrites import form_as_run
    from .tracing import trace_whole

    form = trace_whole(model, args, form_as_run)
    with tempfile.TemporaryDirectory(prefix="passnet-bundle-") as scratch:
        graph = Path(scratch) / "graph"
        command = ["bundle", graph, "-o", out, *(f"--for={target}" for target in targets)]
        if weights:
            save_safetensors(Path(scratch) / "weights.safetensors", _weights_of(form, args))
            command += ["--weights", Path(scratch) / "weights.safetensors"]
        write(form, "graph", graph)
        entry, _ = cache.find(form, cache_dir)
        if entry is not None and entry.passes:
            command += ["--passes", cache.directory(cache_dir) / form.key() / "pass_dir"]
        programs.run(command)
    return Bundle(out)


def _weights_of(form: Form, args: Sequence[Any] | Mapping[str, Any]) -> dict[str, torch.Tensor]:
    """Inputs of the graph that are no arguments of the call, by name."""
    given = args.values() if isinstance(args, Mapping) else args
    names = [node.target for node in form.graph.module.graph.find_nodes(op="placeholder")]
    return {name: value.detach() for name, value in zip(names, form.graph.inputs) if not any(value is one for one in given)}


_DTYPES = {"float32": "F32", "float64": "F64", "float16": "F16", "bfloat16": "BF16", "int64": "I64", "int32": "I32", "int16": "I16", "int8": "I8",
           "uint8": "U8", "bool": "BOOL", "complex64": "C64"}  # fmt: skip


def save_safetensors(path: Path, tensors: Mapping[str, torch.Tensor]) -> None:
    import torch

    header, parts, end = {}, [], 0
    for name, value in tensors.items():
        if str(value.dtype).removeprefix("torch.") not in _DTYPES:
            raise Unsupported(f"weight '{name}' is of {value.dtype}, expected one of {', '.join(_DTYPES)}", "unsupported", "write the bundle with weights=False")
        data = value.resolve_conj().resolve_neg().contiguous().reshape(-1).view(torch.uint8).numpy().tobytes()
        header[name] = {"dtype": _DTYPES[str(value.dtype).removeprefix("torch.")], "shape": list(value.shape), "data_offsets": [end, end + len(data)]}
        parts.append(data)
        end += len(data)
    text = json.dumps(header).encode()
    path.write_bytes(b"".join([len(text).to_bytes(8, "little"), text, *parts]))
