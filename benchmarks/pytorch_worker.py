"""PyTorch as a worker: speaks docs/protocol.md on descriptor 3, so that a benchmark can treat it as one of ours.

Runs a graph as a user of PyTorch would: the module of model.py, called under torch.no_grad(), as it is, wrapped in
torch.compile, or captured as a CUDA graph. The clock stands around the call alone; the outputs of the call before are
freed and inputs that the graph changes in place are restored outside of it, as in passnet-worker.

On a GPU a request to time may ask for more: `fresh` inputs, at other addresses than those of the two calls before, as
when a graph is one of many in a program; `flush`, a level 2 cache that holds nothing of use; and the "device" `clock`,
which stands around the work of the device and leaves out what the host needs to launch it.
"""

import argparse
import gc
import itertools
import json
import mmap
import os
import re
import socket
import struct
import time
import traceback

import torch

ALIGNMENT = 64
COMPILED = {"compile": {}, "reduce-overhead": {"mode": "reduce-overhead"}, "max-autotune": {"mode": "max-autotune"}}
MODES = ("eager", *COMPILED, "cuda-graph")
# device(type="cuda", index=0), device("cpu") and their like, with torch. before them or without.
DEVICE_LITERAL = re.compile(r"""\bdevice\((?:\w+=)?["'](?:cpu|cuda)(?::\d+)?["'](?:, *(?:\w+=)?\d+)?\)""")
ROTATED_SETS = 3
FLUSHED_BYTES = 256 << 20  # the level 2 cache of an H200 holds 60 MB
SLEEP_CYCLES = 2_000_000  # about 1 ms of an H200
SLEEP_DOUBLINGS = 6  # to 64 ms
WARM_UP_CALLS = 3


class Connection:
    """Frames on a socket: a 4-byte little-endian length, then JSON; descriptors travel with the frame."""

    def __init__(self, descriptor):
        self.socket = socket.socket(fileno=descriptor)

    def receive(self):
        """(message, descriptors), or None when the peer is gone."""
        data, descriptors = b"", []
        while len(data) < 4 or len(data) < 4 + struct.unpack("<I", data[:4])[0]:
            wanted = 4 - len(data) if len(data) < 4 else 4 + struct.unpack("<I", data[:4])[0] - len(data)
            part, fds, _, _ = socket.recv_fds(self.socket, wanted, 16)
            if not part:
                return None
            data += part
            descriptors += fds
        return json.loads(data[4:]), descriptors

    def send(self, message, descriptors=()):
        text = json.dumps(message).encode()
        data = struct.pack("<I", len(text)) + text
        sent = socket.send_fds(self.socket, [data], list(descriptors)) if descriptors else 0
        self.socket.sendall(data[sent:])


def read_bundle(entries, descriptor):
    """{name: tensor}, copied out of the shared memory."""
    tensors = {}
    size = os.fstat(descriptor).st_size
    memory = mmap.mmap(descriptor, size, prot=mmap.PROT_READ) if size else b""
    for entry in entries:
        dtype, shape = getattr(torch, entry["dtype"]), entry["shape"]
        empty = torch.empty(shape, dtype=dtype)
        size_bytes = empty.numel() * empty.element_size()
        data = bytearray(memory[entry["offset"] : entry["offset"] + size_bytes])
        tensors[entry["name"]] = torch.frombuffer(data, dtype=dtype).reshape(shape).clone() if size_bytes else empty
    os.close(descriptor)
    return tensors


def write_bundle(tensors):
    """(entries, descriptor) of a fresh shared memory that holds {name: tensor}, each contiguous."""
    descriptor = os.memfd_create("outputs")
    entries, offset = [], 0
    for name, tensor in tensors.items():
        flat = tensor.detach().cpu().contiguous().reshape(-1)
        data = flat.view(torch.uint8).numpy().tobytes() if flat.numel() else b""
        dtype = str(tensor.dtype).removeprefix("torch.")
        entries.append({"name": name, "dtype": dtype, "shape": list(tensor.shape), "offset": offset})
        os.pwrite(descriptor, data, offset)
        offset += -(-len(data) // ALIGNMENT) * ALIGNMENT
    os.ftruncate(descriptor, offset)
    return entries, descriptor


def load_module(text, file, device):
    """The module of model.py; what it makes on a device named in its text is made on the one under test."""
    names = {}
    exec(compile(DEVICE_LITERAL.sub(repr(device), text), file, "exec"), names)
    return names["GraphModule"]()


def cloned(outputs):
    """The outputs of a call as a tuple that no later call writes to, as the next replay of a CUDA graph would."""
    values = outputs if isinstance(outputs, tuple) else (outputs,)
    return tuple(value.clone() if isinstance(value, torch.Tensor) else value for value in values)


def host_us(call, prepare):
    """Host time of a call on the CPU. prepare makes all ready outside the clock and returns the call's arguments."""
    arguments, clock = prepare(), time.perf_counter_ns
    start = clock()
    outputs = call(*arguments)  # noqa: F841: freed when the clock has stopped
    end = clock()
    return (end - start) / 1000


def cuda_host_us(call, prepare):
    """Host time of a call on a GPU, until the results are there; what prepare launched has ended before."""
    arguments, clock = prepare(), time.perf_counter_ns
    torch.cuda.synchronize()
    start = clock()
    outputs = call(*arguments)  # noqa: F841: freed when the clock has stopped
    torch.cuda.synchronize()
    end = clock()
    return (end - start) / 1000


def queued_us(call, prepare, cycles):
    """(device time of a call, whether all of it was queued while the device still slept): if not, it may hold gaps."""
    arguments = prepare()
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    torch.cuda.synchronize()
    torch.cuda._sleep(cycles)
    start.record()
    outputs = call(*arguments)  # noqa: F841: freed when the clock has stopped
    end.record()
    queued = not start.query()
    torch.cuda.synchronize()
    return start.elapsed_time(end) * 1000, queued


def cuda_device_us(call, prepare):
    """Device time of a call without waiting for the host. A call that waits for the device itself, or launches more
    than the queue holds, is never queued in time: its figure is that of the longest sleep, gaps included."""
    for doublings in range(SLEEP_DOUBLINGS + 1):
        elapsed, queued = queued_us(call, prepare, SLEEP_CYCLES << doublings)
        if queued:
            break
    return elapsed


CLOCKS = {("cpu", "host"): host_us, ("cuda", "host"): cuda_host_us, ("cuda", "device"): cuda_device_us}


class Graph:
    """A loaded model.py with its inputs."""

    def __init__(self, text, file, device, mode):
        self.device = device
        self.module = load_module(text, file, device)
        code = self.module.forward.__func__.__code__
        self.arguments = code.co_varnames[1 : code.co_argcount]
        self.compiled = mode in COMPILED
        self.call = torch.compile(self.module, **COMPILED[mode]) if self.compiled else self.module
        self.inputs, self.originals, self.changed = [], [], []

    def set_inputs(self, tensors):
        self.inputs = [tensors[name].to(self.device) for name in self.arguments]
        self.originals = [tensor.clone() for tensor in self.inputs]
        self.changed = []

    def run(self):
        """One call; finds out which inputs the graph changes."""
        self.begin(self.inputs)
        with torch.no_grad():
            outputs = self.call(*self.inputs)
        pairs = enumerate(zip(self.inputs, self.originals))
        self.changed = [i for i, (now, before) in pairs if not torch.equal(now.nan_to_num(), before.nan_to_num())]
        gc.freeze()  # what is loaded and compiled by now is not looked through again before each block of timed calls
        return cloned(outputs)

    def begin(self, inputs):
        """Before a call: these inputs as they were set; the outputs of a CUDA graph of torch.compile are given up."""
        for i in self.changed:
            inputs[i].copy_(self.originals[i])
        if self.compiled:
            torch.compiler.cudagraph_mark_step_begin()

    def timed(self, fresh):
        """(what is called under the clock, the arguments of its calls, which go round)."""
        return self.call, self.rotation() if fresh else [self.inputs]

    def rotation(self):
        """Sets of inputs, all alive at once, so that no two of them have an address in common."""
        return [[tensor.clone() for tensor in self.originals] for _ in range(ROTATED_SETS)]

    def measure_us(self, calls, clock, fresh, flush, settle):
        """Time of each of so many calls, by one of CLOCKS; settle: with an untimed call before each."""
        call, sets = self.timed(fresh)
        turns = itertools.cycle(sets)
        buffer = torch.empty(FLUSHED_BYTES, dtype=torch.uint8, device=self.device) if flush else None

        def prepare():
            arguments = next(turns)
            self.begin(arguments or self.inputs)  # a replay takes no arguments
            if settle:
                call(*arguments)
                self.begin(arguments or self.inputs)
            if flush:
                buffer.zero_()
            return arguments

        gc.collect()
        gc.disable()
        with torch.no_grad():
            times = [clock(call, prepare) for _ in range(calls)]
        gc.enable()
        return times


class CapturedGraph(Graph):
    """A graph whose eager call was captured as a CUDA graph, bound to the inputs and outputs of its capture."""

    def __init__(self, text, file, device, mode):
        super().__init__(text, file, device, mode)
        self.call = self.replay_on_copies

    def set_inputs(self, tensors):
        super().set_inputs(tensors)
        self.changed = range(len(self.inputs))  # any may be, until the first run has told
        with torch.no_grad():
            self.warm_up()
            self.capture()

    def warm_up(self):
        """Libraries set up in their first calls what cannot be set up in a capture; not on the stream of all others,
        since captures are made on one of their own too."""
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(WARM_UP_CALLS):
                self.begin(self.inputs)
                self.module(*self.inputs)
        torch.cuda.current_stream().wait_stream(side)

    def capture(self):
        """The stream is set again by hand: a capture that fails leaves its own behind."""
        self.replayed = torch.cuda.CUDAGraph()
        with torch.cuda.stream(torch.cuda.current_stream()), torch.cuda.graph(self.replayed):
            self.outputs = self.module(*self.inputs)

    def replay_on_copies(self, *inputs):
        """A call as of any other module: takes inputs at any address, and its outputs are the caller's to keep."""
        for captured, given in zip(self.inputs, inputs):
            captured.copy_(given)
        self.replayed.replay()
        return cloned(self.outputs)

    def timed(self, fresh):
        return super().timed(fresh) if fresh else (self.replayed.replay, [()])


class Worker:
    def __init__(self, device, mode):
        self.device = torch.device("cuda:0" if device == "cuda" else device)
        self.mode = mode
        self.graphs = {}

    def answer(self, request, descriptors):
        """(reply, descriptors) to a request."""
        return getattr(self, "do_" + request["do"])(request, descriptors)

    def do_hello(self, request, descriptors):
        how = "torch.compile" if self.mode == "compile" else self.mode
        hardware = how if self.device.type == "cpu" else f"{how}, {torch.cuda.get_device_name(self.device)}"
        versions = {"version": 2, "torch": torch.__version__, "threads": torch.get_num_threads()}
        return {**versions, "hardware": hardware, "isolation": "none"}, []

    def do_load(self, request, descriptors):
        kind = CapturedGraph if self.mode == "cuda-graph" else Graph
        self.graphs[request["id"]] = kind(request["model"], request["file"], self.device, self.mode)
        return {"operators": 0}, []

    def do_set_inputs(self, request, descriptors):
        self.graphs[request["id"]].set_inputs(read_bundle(request["tensors"], descriptors[0]))
        return {}, []

    def do_run(self, request, descriptors):
        outputs = self.graphs[request["id"]].run()
        tensors = {f"out_{i}": value for i, value in enumerate(outputs) if isinstance(value, torch.Tensor)}
        scalars = {f"out_{i}": value for i, value in enumerate(outputs) if isinstance(value, (bool, int, float))}
        entries, descriptor = write_bundle(tensors)
        return {"outputs": entries, "scalars": scalars}, [descriptor]

    def do_time(self, request, descriptors):
        clock = CLOCKS.get((self.device.type, request.get("clock", "host")))
        if clock is None:
            raise ValueError(f"no clock '{request['clock']}' on {self.device.type}")
        graph, fresh, flush = self.graphs[request["id"]], request.get("fresh", False), request.get("flush", False)
        return {"times_us": graph.measure_us(request["calls"], clock, fresh, flush, request.get("settle", False)), "changed": 0}, []

    def do_unload(self, request, descriptors):
        self.graphs.pop(request["id"], None)
        torch.compiler.reset()
        return {}, []


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--role", help="given by whoever starts a worker; makes no difference here")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--processors", help="libgomp, which PyTorch uses, is told by its environment")
    parser.add_argument("--device", default="cpu", help="cpu, cuda or cuda:N")
    parser.add_argument("--mode", choices=MODES, default="eager", help="how a module is called")
    arguments, _ = parser.parse_known_args()
    if arguments.mode == "cuda-graph" and arguments.device == "cpu":
        parser.error("--mode cuda-graph needs --device cuda")
    torch.set_num_threads(arguments.threads)
    connection, worker = Connection(3), Worker(arguments.device, arguments.mode)
    while message := connection.receive():
        request, descriptors = message
        if request["do"] == "exit":  # who asks for it need not wait for the answer
            return
        try:
            reply, to_send = worker.answer(request, descriptors)
            connection.send({"ok": True, **reply}, to_send)
            for descriptor in to_send:
                os.close(descriptor)
        except Exception as problem:  # a graph that PyTorch cannot run is a line of the report, not the end of it
            text = "".join(traceback.format_exception_only(problem)).strip()
            kind = "resource" if request["do"] == "hello" else "unsupported"  # hello fails where there is no device
            connection.send({"ok": False, "kind": kind, "error": text[:2000]})


if __name__ == "__main__":
    main()
