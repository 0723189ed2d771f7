"""What takes from this process, for good, what host code of a pass has no need of."""

import ctypes
import os
import platform
import re
import resource

_SECCOMP = {"x86_64": 317, "aarch64": 277}  # its number as a system call
_SET_FILTER, _ALL_THREADS = 1, 1  # linux/seccomp.h
_INSTRUCTION_BYTES = 8  # struct sock_filter


class _Program(ctypes.Structure):
    """struct sock_fprog."""

    _fields_ = [("length", ctypes.c_ushort), ("code", ctypes.c_char_p)]


def _status(field):
    """A field of this process's entry in /proc."""
    with open("/proc/self/status") as file:
        found = re.search(rf"^{field}:\s*(.*)$", file.read(), re.MULTILINE)
    return found[1] if found else ""


def mute():
    """What a pass prints is for nobody: nothing is parsed, and endless output must fill no memory."""
    null = os.open(os.devnull, os.O_WRONLY)
    for standard in (1, 2):
        os.dup2(null, standard)
    os.close(null)


def enter(program, memory_bytes):
    """program: the system call filter, as passnet::sandbox makes it, for all threads. memory_bytes: that each process may
    have beside what this one has now; None: as much as there is."""
    if memory_bytes is not None:
        held = int(_status("VmData").split()[0]) * 1024
        hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
        most = held + memory_bytes if hard == resource.RLIM_INFINITY else min(held + memory_bytes, hard)
        resource.setrlimit(resource.RLIMIT_DATA, (most, most))
    library = ctypes.CDLL(None, use_errno=True)
    loaded = _Program(len(program) // _INSTRUCTION_BYTES, program)
    if library.syscall(_SECCOMP[platform.machine()], _SET_FILTER, _ALL_THREADS, ctypes.byref(loaded)) != 0:
        raise OSError(ctypes.get_errno(), "the kernel refuses the system call filter")


def describe():
    """What is in force, found by looking, in the words of src/sandbox/isolation.h."""
    with open("/proc/self/net/dev") as file:
        interfaces = [line.split(":")[0].strip() for line in file.readlines()[2:]]
    parts = []
    if "\t" in _status("NSpid") and set(interfaces) <= {"lo"}:
        parts.append("user, network, pid and ipc namespaces")
    if _status("NoNewPrivs") == "1":
        parts.append("no new privileges")
    if _status("Seccomp") == "2":
        parts.append("seccomp filter")
    return "; ".join(parts) or "none"
