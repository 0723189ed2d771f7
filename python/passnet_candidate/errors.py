"""Turns an exception into a reply of docs/protocol.md: its kind, its text and its place in the pass. passnet cuts the text."""

import errno
import traceback

import torch

_LONGEST = 2000


class PassError(Exception):
    """A pass that cannot be applied, in words for its author."""


class GraphError(Exception):
    """A graph that cannot be recorded."""


class RequestError(Exception):
    """A request that makes no sense; a bug of whoever asks."""


def text_of(problem):
    """"TypeError: …" in one paragraph; the words of a PassError alone."""
    if isinstance(problem, (PassError, GraphError, RequestError)):
        return str(problem)[:_LONGEST]
    return "".join(traceback.format_exception_only(problem)).strip()[:_LONGEST]


def place_of(frames, files):
    """The innermost frame that is in one of the pass's files, as `at` of a reply; None where none is."""
    own = [frame for frame in frames if frame.filename in files]
    if not own:
        return None
    return {"file": own[-1].filename, "line": own[-1].lineno or 0, "column": (own[-1].colno or 0) + 1}


# Texts of PyTorch's errors when the system refuses memory.
_OUT_OF_MEMORY = ("can't allocate memory", "std::bad_alloc", "Cannot allocate memory")


def _is_out_of_memory(problem):
    """Files that this process makes are memory too."""
    if isinstance(problem, OSError):
        return problem.errno in (errno.ENOMEM, errno.ENOSPC)
    return isinstance(problem, MemoryError) or (isinstance(problem, RuntimeError) and any(words in str(problem) for words in _OUT_OF_MEMORY))


def _kind(problem):
    """(kind, whether this process is lost)."""
    text = str(problem)
    if isinstance(problem, GraphError):
        return "untraceable", False
    if isinstance(problem, RequestError):
        return "internal", False
    if isinstance(problem, torch.OutOfMemoryError):
        return "resource", False
    if _is_out_of_memory(problem):
        return "memory", False
    if "illegal memory access" in text or "misaligned address" in text:
        return "out-of-bounds", True
    if isinstance(problem, torch.AcceleratorError) or "CUDA error" in text:
        return "crash", True
    return "bad-pass", False


def reply_to(problem, files, memory_bytes):
    """The reply that stands for `problem`, and whether this process ends with it. files: those of the passes. memory_bytes: that
    this process may take."""
    kind, ends = _kind(problem)
    reply = {"ok": False, "kind": kind, "error": text_of(problem)}
    if kind == "memory":
        reply["error"] = f"the host code needs more than its limit of {memory_bytes / 2**30:.1f} GiB of memory: {reply['error']}"
    if place := place_of(traceback.extract_tb(problem.__traceback__), files):
        reply["at"] = place
    if kind == "resource":
        reply["retry"] = True
    if ends:
        reply["ends_worker"] = True
    return reply, ends
