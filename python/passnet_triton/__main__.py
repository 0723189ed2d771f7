"""python3 -m passnet_triton: compiles the kernels of request.json in the working directory.

Triton is imported once; each kernel is compiled in a child of its own, which can do nothing but compute (confine.py) and
writes what it has made to the descriptor that it was given. Nothing of that is read here: passnet does, and believes none
of it. Written to stdout is how each child ended, in lines "INDEX exit CODE", "INDEX signal NUMBER", "INDEX time".

request.json (see src/pass/triton/compile.cpp, which writes it):
  packages  directory that holds triton
  jobs, timeout_s, memory_bytes  children at a time; limits of one, of a processor's time
  modules   [{name, file, text}]
  kernels   [{modules: indices, its own first; kernel, parameters: [{name, type, divisible, constant: [kind, value]}],
              options, capability, cuda_version}]
INDEX.out holds an answer: a line of JSON and, where that says "ptx": true, the PTX. INDEX.log is what else was printed.
"""

import collections
import json
import os
import select
import signal
import sys
import time
from pathlib import Path

from . import answer, confine

WALL_TIMES = 4  # seconds that a child may take for each of a processor's (compile.cpp waits as long)


def main() -> int:
    request = json.loads(Path("request.json").read_bytes())
    sys.path.append(request["packages"])
    import triton  # noqa: F401  once, for all children
    import triton.language.extra.cuda.libdevice  # noqa: F401
    from triton.backends.nvidia import compiler  # noqa: F401

    program = Path("filter").read_bytes()
    if not _can_confine(request, program):
        return 1
    waiting = collections.deque(range(len(request["kernels"])))
    running: dict[int, tuple[int, int, float]] = {}  # pidfd: index, pid, deadline
    poll = select.poll()
    while waiting or running:
        while waiting and len(running) < request["jobs"]:
            index = waiting.popleft()
            pid = _start(request, index, program)
            watch = os.pidfd_open(pid)
            poll.register(watch, select.POLLIN)
            running[watch] = index, pid, time.monotonic() + WALL_TIMES * request["timeout_s"]
        left = min(deadline for _, _, deadline in running.values()) - time.monotonic()
        ended = {watch for watch, _ in poll.poll(max(0, left * 1000))}
        for watch, (index, pid, deadline) in list(running.items()):
            late = watch not in ended
            if late and time.monotonic() < deadline:
                continue
            if late:
                os.kill(pid, signal.SIGKILL)
            print(index, _end_of(os.waitpid(pid, 0)[1], late), flush=True)
            poll.unregister(watch)
            os.close(watch)
            del running[watch]
    return 0


def _can_confine(request: dict, program: bytes) -> bool:
    """Whether this kernel gives what confine.py asks for, tried out in a child that runs no foreign text."""
    pid = os.fork()
    if pid == 0:
        try:
            confine.enter(program, request["timeout_s"], request["memory_bytes"])
            os._exit(0)
        except OSError as error:
            print(error, file=sys.stderr, flush=True)
        finally:
            os._exit(1)
    return os.waitpid(pid, 0)[1] == 0


def _start(request: dict, index: int, program: bytes) -> int:
    """A child that compiles one kernel; its pid."""
    out, log = (os.open(f"{index}.{kind}", os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600) for kind in ("out", "log"))
    pid = os.fork()
    if pid == 0:
        try:
            _compile(request, index, program, out, log)
        finally:
            os._exit(1)
    os.close(out)
    os.close(log)
    return pid


def _compile(request: dict, index: int, program: bytes, out: int, log: int) -> None:
    os.dup2(log, 1)
    os.dup2(log, 2)
    out = os.dup2(out, 3)
    os.closerange(4, 65536)
    confine.enter(program, request["timeout_s"], request["memory_bytes"])
    text = answer.of(request["kernels"][index], request["modules"])
    while text:
        text = text[os.write(out, text) :]
    os._exit(0)


def _end_of(status: int, late: bool) -> str:
    if late or (os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGXCPU):
        return "time"
    if os.WIFSIGNALED(status):
        return f"signal {os.WTERMSIG(status)}"
    return f"exit {os.WEXITSTATUS(status)}"


if __name__ == "__main__":
    sys.exit(main())
