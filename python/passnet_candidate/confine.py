"""What takes from this process, for good, what host code of a pass has no need of."""

import ctypes
import os
import re
import resource

_SECCOMP = 317  # its number as a system call on x86-64
_SET_FILTER, _ALL_THREADS = 1, 1  # linux/seccomp.h
_INSTRUCTION_BYTES = 8  # struct sock_filter
_GET_SECCOMP, _GET_NO_NEW_PRIVS, _FILTERED = 21, 39, 2  # linux/prctl.h, linux/seccomp.h
_MOST_DESCRIPTORS = 4096
_MOST_THREADS = 4096  # of all its processes together; root has no such limit


class _Program(ctypes.Structure):
    """struct sock_fprog."""

    _fields_ = [("length", ctypes.c_ushort), ("code", ctypes.c_char_p)]


def _status(field):
    """A field of this process's entry in /proc; empty where there is no /proc."""
    try:
        with open("/proc/self/status") as file:
            found = re.search(rf"^{field}:\s*(.*)$", file.read(), re.MULTILINE)
    except OSError:
        return ""
    return found[1] if found else ""


def _held_bytes(field):
    """Bytes that this process has of "VmData" or "VmSize" now."""
    told = _status(field)
    return int(told.split()[0]) * 1024 if told else resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def limit_memory(memory_bytes, kind):
    """memory_bytes: that each process may have beside what this one has now. kind: of its "addresses", or of its "data"."""
    limit, field = (resource.RLIMIT_AS, "VmSize") if kind == "addresses" else (resource.RLIMIT_DATA, "VmData")
    _lower(limit, _held_bytes(field) + memory_bytes)
    _lower(resource.RLIMIT_NOFILE, _MOST_DESCRIPTORS)  # what is on its way through pipes and sockets is counted nowhere
    if _has_namespaces():  # else those of the user's other programs count too
        _lower(resource.RLIMIT_NPROC, _MOST_THREADS)


def _lower(limit, most):
    hard = resource.getrlimit(limit)[1]
    most = most if hard == resource.RLIM_INFINITY else min(most, hard)
    resource.setrlimit(limit, (most, most))


def mute():
    """What a pass prints is for nobody: nothing is parsed, and endless output must fill no memory."""
    null = os.open(os.devnull, os.O_WRONLY)
    for standard in (1, 2):
        os.dup2(null, standard)
    os.close(null)


def enter(program):
    """program: the system call filter, as passnet::sandbox makes it, for all threads."""
    library = ctypes.CDLL(None, use_errno=True)
    loaded = _Program(len(program) // _INSTRUCTION_BYTES, program)
    if library.syscall(_SECCOMP, _SET_FILTER, _ALL_THREADS, ctypes.byref(loaded)) != 0:
        raise OSError(ctypes.get_errno(), "the kernel refuses the system call filter")


def describe():
    """What is in force, found by looking, in the words of src/sandbox/isolation.h."""
    library = ctypes.CDLL(None)
    parts = []
    if _has_namespaces():
        parts.append("user, network, pid and ipc namespaces")
    if library.prctl(_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1:
        parts.append("no new privileges")
    if library.prctl(_GET_SECCOMP, 0, 0, 0, 0) == _FILTERED:
        parts.append("seccomp filter")
    return "; ".join(parts) or "none"


def _has_namespaces():
    """A root without /proc is given in such namespaces alone."""
    if not os.path.exists("/proc/self/status"):
        return True
    with open("/proc/self/net/dev") as file:
        interfaces = {line.split(":")[0].strip() for line in file.readlines()[2:]}
    return ("\t" in _status("NSpid") or os.getppid() == 1) and interfaces <= {"lo"}
