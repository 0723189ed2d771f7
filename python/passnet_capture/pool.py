"""Children forked from a parent that has imported everything, each with limits, and all of them gone when the parent is."""

import ctypes
import faulthandler
import os
import resource
import select
import shutil
import signal
import sys
import time
import traceback
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_PR_SET_PDEATHSIG = 1
_libc = ctypes.CDLL(None, use_errno=True)


@dataclass(frozen=True)
class Limits:
    seconds: float
    memory_bytes: int  # of writable memory of its own, on top of what the parent has
    jobs: int


@dataclass
class Ended:
    """How a child ended."""

    task: Any
    seconds: float
    peak_mb: int
    timed_out: bool
    status: int  # as os.waitstatus_to_exitcode: negative for a signal
    scratch: Path  # what it left there
    log: str  # the end of what it wrote on stdout and stderr


@dataclass
class _Child:
    task: Any
    pid: int
    pidfd: int
    started: float
    scratch: Path


def run_all(tasks: Iterable[Any], work: Callable[[Any, Path], None], limits: Limits, scratch: Path) -> Iterator[Ended]:
    """Calls work(task, directory) in a process per task and yields how each ended, in the order of their ends.

    The directory below `scratch` is empty at first, and removed after the consumer has seen the end. Leaving the
    iteration, by Ctrl-C too, kills what still runs.
    """
    waiting = iter(tasks)
    running: dict[int, _Child] = {}
    number = 0
    try:
        while True:
            while len(running) < limits.jobs and (task := next(waiting, None)) is not None:
                directory = scratch / f"{os.getpid()}_{number}"
                number += 1
                directory.mkdir(parents=True)
                child = _start(task, work, limits, directory)
                running[child.pidfd] = child
            if not running:
                return
            deadline = min(child.started for child in running.values()) + limits.seconds
            poll = select.poll()
            for pidfd in running:
                poll.register(pidfd, select.POLLIN)
            ready = {pidfd for pidfd, _ in poll.poll(max(0.0, deadline - time.monotonic()) * 1000 + 1)}
            for child in list(running.values()):
                late = time.monotonic() - child.started >= limits.seconds
                if child.pidfd in ready or late:
                    ended = _reap(child, timed_out=late and child.pidfd not in ready)
                    del running[child.pidfd]
                    yield ended
                    shutil.rmtree(child.scratch, ignore_errors=True)
    finally:
        for child in running.values():
            _reap(child, timed_out=True)
            shutil.rmtree(child.scratch, ignore_errors=True)


def _start(task: Any, work: Callable[[Any, Path], None], limits: Limits, directory: Path) -> _Child:
    sys.stdout.flush()
    sys.stderr.flush()
    parent, started = os.getpid(), time.monotonic()
    pid = os.fork()
    if pid == 0:
        status = 70
        try:
            _enter_child(parent, limits, directory)
            work(task, directory)
            status = 0
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(status)
    return _Child(task, pid, os.pidfd_open(pid), started, directory)


def _enter_child(parent: int, limits: Limits, directory: Path) -> None:
    os.setsid()  # the terminal's signals go to the parent alone, and one kill ends all that is started here
    for name in (signal.SIGINT, signal.SIGTERM):
        signal.signal(name, signal.SIG_DFL)
    _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:
        os._exit(70)
    log = os.open(directory / "log", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    null = os.open(os.devnull, os.O_RDONLY)
    for source, target in ((null, 0), (log, 1), (log, 2)):
        os.dup2(source, target)
    faulthandler.enable(2)
    # Not the address space: a model larger than memory has addresses for its parameters.
    resource.setrlimit(resource.RLIMIT_DATA, (_own_bytes() + limits.memory_bytes, resource.RLIM_INFINITY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _own_bytes() -> int:
    """Private writable memory of this process, as RLIMIT_DATA counts it."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmData:"):
            return int(line.split()[1]) * 1024
    return 0


def _reap(child: _Child, timed_out: bool) -> Ended:
    _kill(child)  # when it has ended, what it started and left
    _, status, usage = os.wait4(child.pid, 0)
    os.close(child.pidfd)
    try:
        log = (child.scratch / "log").read_text(errors="replace")[-4000:]
    except OSError:
        log = ""
    return Ended(child.task, time.monotonic() - child.started, usage.ru_maxrss // 1024, timed_out,
                 os.waitstatus_to_exitcode(status), child.scratch, log)  # fmt: skip


def _kill(child: _Child) -> None:
    try:
        os.killpg(child.pid, signal.SIGKILL)
    except ProcessLookupError:
        os.kill(child.pid, signal.SIGKILL)  # it has not got its own session yet
