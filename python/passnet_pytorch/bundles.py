"""Tensors in shared memory, and outputs that are no tensors: BUNDLE and VALUE of docs/protocol.md."""

import math
import mmap
import os
import tempfile
import warnings

import torch

ALIGNMENT = 64
# Bundles that were sent to us are read-only memory, and nobody writes to tensors that show it.
warnings.filterwarnings("ignore", message="The given buffer is not writable")


def mapped(descriptor):
    """The memory behind a descriptor, read-only. Closes the descriptor."""
    size = os.fstat(descriptor).st_size
    memory = mmap.mmap(descriptor, size, prot=mmap.PROT_READ) if size else b""
    os.close(descriptor)
    return memory


def view(entry, memory, shift=0):
    """The tensor of an entry, `shift` bytes after its place, as it lies in the memory."""
    dtype, shape = getattr(torch, entry["dtype"]), entry["shape"]
    count = math.prod(shape)
    if count == 0:
        return torch.empty(shape, dtype=dtype)
    return torch.frombuffer(memory, dtype=dtype, count=count, offset=entry["offset"] + shift).reshape(shape)


def read_bundle(entries, descriptor):
    """{name: tensor}, copied out of the shared memory. Closes the descriptor."""
    memory = mapped(descriptor)
    return {entry["name"]: view(entry, memory).clone() for entry in entries}


def _fresh_memory(size):
    """A descriptor of so many bytes that have no name. Where a filter refuses memory without a file system they lie in the
    directory that the process may write to, which has a bound of its own."""
    try:
        descriptor = os.memfd_create("outputs")
        os.ftruncate(descriptor, size)
    except PermissionError:
        descriptor, name = tempfile.mkstemp()
        os.unlink(name)
        if size:
            os.posix_fallocate(descriptor, 0, size)
    return descriptor


def write_bundle(tensors):
    """(entries, descriptor) of a fresh shared memory that holds {name: tensor}, each contiguous."""
    flats = {name: tensor.detach().cpu().resolve_conj().resolve_neg().contiguous() for name, tensor in tensors.items()}
    entries, size = [], 0
    for name, tensor in flats.items():
        dtype = str(tensor.dtype).removeprefix("torch.")
        entries.append({"name": name, "dtype": dtype, "shape": list(tensor.shape), "offset": size})
        size += -(-tensor.numel() * tensor.element_size() // ALIGNMENT) * ALIGNMENT
    descriptor = _fresh_memory(size)
    memory = mmap.mmap(descriptor, size) if size else b""
    for entry, tensor in zip(entries, flats.values()):
        if tensor.numel() > 0:
            view(entry, memory).copy_(tensor)
    return entries, descriptor


def value_of(value):
    """The VALUE of what is no tensor."""
    if value is None:
        return {"none": True}
    if isinstance(value, bool):
        return {"bool": value}
    if isinstance(value, int):
        return {"int": value}
    if isinstance(value, float):
        return {"float": value if math.isfinite(value) else str(value)}
    if isinstance(value, torch.Tensor):
        return {"dtype": str(value.dtype).removeprefix("torch."), "shape": list(value.shape), "strides": list(value.stride())}
    if isinstance(value, (list, tuple)):
        return {"list": [value_of(one) for one in value]}
    raise TypeError(f"the graph returned a {type(value).__name__}, expected tensors, numbers, None, or lists of them")


def outputs_of(returned):
    """What a call returned, as a tuple."""
    return tuple(returned) if isinstance(returned, (tuple, list)) else (returned,)


def tensors_in(outputs, prefix=""):
    """{"out_0": tensor} of those outputs that are tensors."""
    return {f"{prefix}out_{i}": one for i, one in enumerate(outputs) if isinstance(one, torch.Tensor)}


def scalars_in(outputs, prefix=""):
    """{"out_1": VALUE} of all others."""
    return {f"{prefix}out_{i}": value_of(one) for i, one in enumerate(outputs) if not isinstance(one, torch.Tensor)}
