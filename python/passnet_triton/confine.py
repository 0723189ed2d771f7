"""What takes from a process, for good, all that it does not need to compile: it keeps its descriptors and may read files."""

import ctypes
import resource

_PR_SET_NO_NEW_PRIVS, _PR_SET_SECCOMP, _FILTER = 38, 22, 2  # linux/prctl.h, linux/seccomp.h
_FILE_BYTES = 32 << 20
_INSTRUCTION_BYTES = 8  # struct sock_filter


class _Program(ctypes.Structure):
    """struct sock_fprog."""

    _fields_ = [("length", ctypes.c_ushort), ("code", ctypes.c_char_p)]


def enter(program: bytes, cpu_seconds: int, memory_bytes: int) -> None:
    """program: the system call filter, as passnet::sandbox makes it."""
    # SIGXCPU, which tells the cause, comes at the first limit, and SIGKILL at the second.
    resource.setrlimit(resource.RLIMIT_CPU, (cpu_seconds, cpu_seconds + 1))
    for limit, most in ((resource.RLIMIT_AS, memory_bytes), (resource.RLIMIT_FSIZE, _FILE_BYTES)):
        resource.setrlimit(limit, (most, most))
    prctl = ctypes.CDLL(None, use_errno=True).prctl
    loaded = _Program(len(program) // _INSTRUCTION_BYTES, program)
    if prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) or prctl(_PR_SET_SECCOMP, _FILTER, ctypes.byref(loaded), 0, 0):
        raise OSError(ctypes.get_errno(), "the kernel refuses the system call filter")
