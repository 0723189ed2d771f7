"""python -m passnet_candidate: started by passnet, not by hand."""

import argparse
import os
import signal
import sys
import traceback

import torch

from passnet_pytorch.connection import Connection

from . import confine
from .errors import place_of, reply_to
from .passes import is_of_pass
from .requests import Requests

_OUT_OF_TIME = 143  # what a shell says of a process that SIGTERM ended


def _options():
    parser = argparse.ArgumentParser(prog="passnet_candidate", description=__doc__)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--processors", help="libgomp, which PyTorch uses, is told by its environment")
    parser.add_argument("--device", default="cpu", help="cpu or cuda:N")
    parser.add_argument("--filter", required=True, help="the file that holds the system call filter")
    parser.add_argument("--memory", type=int, required=True, help="bytes that each process may take")
    parser.add_argument("--limit", choices=("addresses", "data"), required=True, help="what of a process counts as that")
    parser.add_argument("--unfiltered", action="store_true", help="without the filter; for selftest")
    return parser.parse_args()


def _prepare(device):
    """All that has to happen before the filter is entered."""
    if device.type == "cuda":
        torch.cuda.set_device(device)
        torch.empty(1, device=device)
        torch.cuda.synchronize()
        return
    try:
        from . import interpreted

        interpreted.take_first_configurations()
    except ImportError:  # a pass may do without Triton
        pass


def _answer_when_out_of_time(connection, requests):
    """SIGTERM means that an answer is overdue: the last one tells where the pass is."""

    def last_words(number, frame):
        place = place_of([one for one in traceback.extract_stack(frame)], _Files(requests.files))
        reply = {"ok": False, "kind": "timeout", "error": "the host code of the pass still ran"}
        connection.send({**reply, "at": place} if place else reply)
        os._exit(_OUT_OF_TIME)

    signal.signal(signal.SIGTERM, last_words)


def _leave_to_the_parent(connection):
    """A child that host code forks must not answer in this process's place."""
    os.register_at_fork(after_in_child=connection.socket.close)


class _Files:
    """The files of the passes and what lies beside them."""

    def __init__(self, files):
        self.files = files

    def __contains__(self, name):
        return is_of_pass(name, self.files)


def _serve(connection, requests, memory_bytes):
    while message := connection.receive():
        request, descriptors = message
        if request["do"] == "exit":
            return
        try:
            fields, to_send = requests.answer(request, descriptors)
        except BaseException as problem:  # SystemExit of a pass too
            reply, ends = reply_to(problem, _Files(requests.files), memory_bytes)
            connection.send(reply)
            if ends:
                os._exit(0)
            continue
        try:
            connection.send({"ok": True, **fields}, to_send)
        except OSError:  # a child that was forked, or nobody listens
            os._exit(0)
        for descriptor in to_send:
            os.close(descriptor)


def main():
    options = _options()
    device = torch.device(options.device)
    torch.set_num_threads(options.threads)
    _prepare(device)
    with open(options.filter, "rb") as file:
        program = file.read()
    connection, requests = Connection(3), Requests(device)
    confine.limit_memory(options.memory, options.limit)
    if not options.unfiltered:
        confine.enter(program)
    confine.mute()
    _answer_when_out_of_time(connection, requests)
    _leave_to_the_parent(connection)
    _serve(connection, requests, options.memory)
    os._exit(0)  # whatever a pass has left to be done at the end is not done


if __name__ == "__main__":
    sys.exit(main())
