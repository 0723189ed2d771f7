"""PyTorch as a worker: speaks docs/protocol.md on descriptor 3, so that a benchmark can treat it as one of ours.

Runs a graph as a user of PyTorch would: the module of model.py, called under torch.no_grad(), as it is or wrapped in
torch.compile with its defaults. The host clock stands around the call alone; the outputs of the call before are freed
and inputs that the graph changes in place are restored outside of it, as in passnet-worker.
"""

import argparse
import gc
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
        data = tensor.detach().contiguous().reshape(-1).view(torch.uint8).numpy().tobytes() if tensor.numel() else b""
        dtype = str(tensor.dtype).removeprefix("torch.")
        entries.append({"name": name, "dtype": dtype, "shape": list(tensor.shape), "offset": offset})
        os.pwrite(descriptor, data, offset)
        offset += -(-len(data) // ALIGNMENT) * ALIGNMENT
    os.ftruncate(descriptor, offset)
    return entries, descriptor


class Graph:
    """A loaded model.py with its inputs."""

    def __init__(self, text, file, compiled):
        names = {}
        exec(compile(re.sub(r'device\(type="cuda"(, index=\d+)?\)', 'device(type="cpu")', text), file, "exec"), names)
        module = names["GraphModule"]()
        code = module.forward.__func__.__code__
        self.arguments = code.co_varnames[1 : code.co_argcount]
        self.call = torch.compile(module) if compiled else module
        self.inputs, self.originals, self.changed = [], [], []

    def set_inputs(self, tensors):
        self.inputs = [tensors[name] for name in self.arguments]
        self.originals = [tensor.clone() for tensor in self.inputs]
        self.changed = []

    def run(self):
        """One call; finds out which inputs the graph changes."""
        self.restore()
        with torch.no_grad():
            outputs = self.call(*self.inputs)
        pairs = enumerate(zip(self.inputs, self.originals))
        self.changed = [i for i, (now, before) in pairs if not torch.equal(now.nan_to_num(), before.nan_to_num())]
        return outputs if isinstance(outputs, tuple) else (outputs,)

    def restore(self):
        for i in self.changed:
            self.inputs[i].copy_(self.originals[i])

    def measure_us(self, calls):
        """Host time of each of so many calls."""
        times, call, inputs, clock = [], self.call, self.inputs, time.perf_counter_ns
        gc.collect()
        gc.disable()
        with torch.no_grad():
            for _ in range(calls):
                outputs = None  # noqa: F841: frees the outputs of the call before
                self.restore()
                start = clock()
                outputs = call(*inputs)
                end = clock()
                times.append((end - start) / 1000)
        gc.enable()
        return times


class Worker:
    def __init__(self, compiled):
        self.compiled = compiled
        self.graphs = {}

    def answer(self, request, descriptors):
        """(reply, descriptors) to a request."""
        return getattr(self, "do_" + request["do"])(request, descriptors)

    def do_hello(self, request, descriptors):
        how = "torch.compile" if self.compiled else "eager"
        return {"version": 1, "torch": torch.__version__, "threads": torch.get_num_threads(), "hardware": how, "isolation": "none"}, []

    def do_load(self, request, descriptors):
        self.graphs[request["id"]] = Graph(request["model"], request["file"], self.compiled)
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
        return {"times_us": self.graphs[request["id"]].measure_us(request["calls"]), "changed": 0}, []

    def do_unload(self, request, descriptors):
        self.graphs.pop(request["id"], None)
        torch.compiler.reset()
        return {}, []


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--role", help="given by whoever starts a worker; makes no difference here")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--processors", help="libgomp, which PyTorch uses, is told by its environment")
    parser.add_argument("--compile", action="store_true", help="wrap each module in torch.compile")
    arguments, _ = parser.parse_known_args()
    torch.set_num_threads(arguments.threads)
    connection, worker = Connection(3), Worker(arguments.compile)
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
            connection.send({"ok": False, "kind": "unsupported", "error": text[:2000]})


if __name__ == "__main__":
    main()
