"""A child forked from a process that has imported everything: with limits, and gone when its parent is."""

import contextlib
import ctypes
import faulthandler
import os
import resource
import select
import signal
import sys
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

_PR_SET_PDEATHSIG = 1
_libc = ctypes.CDLL(None, use_errno=True)


@dataclass
class Ended:
    """How a child ended."""

    seconds: float
    peak_mb: int
    timed_out: bool
    status: int  # as os.waitstatus_to_exitcode: negative for a signal
    log: str  # the end of what it wrote on stdout and stderr


def run(work: Callable[[], None], seconds: float, memory_bytes: int, log: Path, peer: int) -> Ended | None:
    """Calls work() in a child, with `memory_bytes` of writable memory on top of what this process has.

    peer: the descriptor of who wants to know. None: it is gone, or said something, and the child was killed.
    """
    sys.stdout.flush()
    sys.stderr.flush()
    parent, started = os.getpid(), time.monotonic()
    pid = os.fork()
    if pid == 0:
        status = 70
        try:
            _enter_child(parent, memory_bytes, log, peer)
            work()
            status = 0
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(status)
    pidfd = os.pidfd_open(pid)
    poll = select.poll()
    for descriptor in (pidfd, peer):
        poll.register(descriptor, select.POLLIN)
    ready = {descriptor for descriptor, _ in poll.poll(seconds * 1000 + 1)}
    _kill(pid)  # when it has ended, what it started and left
    _, status, usage = os.wait4(pid, 0)
    os.close(pidfd)
    if ready == {peer}:
        return None
    text = log.read_text(errors="replace")[-4000:] if log.exists() else ""
    return Ended(time.monotonic() - started, usage.ru_maxrss // 1024, not ready, os.waitstatus_to_exitcode(status), text)


def _enter_child(parent: int, memory_bytes: int, log: Path, peer: int) -> None:
    os.setsid()  # one kill ends all that is started here
    _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:
        os._exit(70)
    os.close(peer)
    output = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    null = os.open(os.devnull, os.O_RDONLY)
    for source, target in ((null, 0), (output, 1), (output, 2)):
        os.dup2(source, target)
    faulthandler.enable(2)
    with contextlib.suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("1000")  # where the machine has no memory left, the child is ended
    # Not the address space: a model larger than memory has addresses for its parameters.
    resource.setrlimit(resource.RLIMIT_DATA, (_own_bytes() + memory_bytes, resource.RLIM_INFINITY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _own_bytes() -> int:
    """Private writable memory of this process, as RLIMIT_DATA counts it."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmData:"):
            return int(line.split()[1]) * 1024
    return 0


def _kill(pid: int) -> None:
    try:
        os.killpg(pid, signal.SIGKILL)
    except ProcessLookupError:
        os.kill(pid, signal.SIGKILL)  # it has not got its own session yet
