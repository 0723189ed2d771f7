"""PyTorch as a worker: speaks docs/protocol.md on descriptor 3, so that a benchmark can treat it as one of ours.

Runs a graph as a user of PyTorch would: the module of model.py, called under torch.no_grad(), as it is, wrapped in
torch.compile, or captured as a CUDA graph; or compiles it to a package, for another worker to run. The clock stands around the call alone; the outputs of the call before are
freed and inputs that the graph changes in place are restored outside of it, as in passnet-worker.

On a GPU a request to time may ask for more: `fresh` inputs, at other addresses than those of the two calls before, as
when a graph is one of many in a program; `flush`, a level 2 cache that holds nothing of use; and the "device" `clock`,
which stands around the work of the device and leaves out what the host needs to launch it.
"""

import argparse
import gc
import itertools
import os
import pathlib
import re
import sys
import traceback

import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "python"))
from passnet_candidate import confine  # noqa: E402
from passnet_pytorch.bundles import outputs_of, scalars_in, tensors_in, write_bundle  # noqa: E402
from passnet_pytorch.clocks import clock_of  # noqa: E402
from passnet_pytorch.connection import Connection  # noqa: E402
from passnet_pytorch.refused import Refused  # noqa: E402
from passnet_pytorch.replaced import Replaced  # noqa: E402

COMPILED = {"compile": {}, "reduce-overhead": {"mode": "reduce-overhead"}, "max-autotune": {"mode": "max-autotune"}}
PACKAGED = "aotinductor"  # makes packages and runs none: passnet-worker does
MODES = ("eager", *COMPILED, "cuda-graph", PACKAGED)
# device(type="cuda", index=0), device("cpu") and their like, with torch. before them or without.
DEVICE_LITERAL = re.compile(r"""\bdevice\((?:\w+=)?["'](?:cpu|cuda)(?::\d+)?["'](?:, *(?:\w+=)?\d+)?\)""")
ROTATED_SETS = 3
FLUSHED_BYTES = 256 << 20  # the level 2 cache of an H200 holds 60 MB
WARM_UP_CALLS = 3


def load_module(text, file, device):
    """The module of model.py; what it makes on a device named in its text is made on the one under test."""
    names = {}
    exec(compile(DEVICE_LITERAL.sub(repr(device), text), file, "exec"), names)
    return names["GraphModule"]()


def cloned(outputs):
    """The outputs of a call as a tuple that no later call writes to, as the next replay of a CUDA graph would."""
    return tuple(value.clone() if isinstance(value, torch.Tensor) else value for value in outputs_of(outputs))


class Graph:
    """A loaded model.py with its inputs."""

    def __init__(self, text, file, device, mode):
        self.device = device
        self.module = load_module(text, file, device)
        code = self.module.forward.__func__.__code__
        self.arguments = code.co_varnames[1 : code.co_argcount]
        self.compiled = mode in COMPILED
        if self.compiled:
            from passnet_pytorch.vectors import skip_trials  # Inductor takes a second that no other mode needs to wait

            skip_trials()
        self.call = torch.compile(self.module, **COMPILED[mode]) if self.compiled else self.module
        self.inputs, self.originals, self.changed = [], [], []
        self.left = {}  # inputs that the last run() changed, as it left them, by their names in a reply
        self.replaced = Replaced()

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
        self.left = {f"in_{self.arguments[i]}": self.inputs[i].clone() for i in self.changed}
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
        """Time of each of so many calls, by a clock of passnet_pytorch; settle: with an untimed call before each."""
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
            times = [clock(call, prepare)[0] for _ in range(calls)]
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
        versions = {"torch": torch.__version__, "threads": torch.get_num_threads()}
        if self.mode == PACKAGED:
            from passnet_pytorch import package  # which takes a second that no other mode needs to wait

            versions["compiler"] = package.describe()
        return {**versions, "hardware": hardware, "isolation": confine.describe()}, []

    def do_package(self, request, descriptors):
        from passnet_pytorch import package

        module = load_module(request["model"], request["file"], self.device)
        outputs = package.write_package(module, request["inputs"], self.device, request["path"])
        torch.compiler.reset()
        return {"outputs": outputs}, []

    def do_load(self, request, descriptors):
        kind = CapturedGraph if self.mode == "cuda-graph" else Graph
        self.graphs[request["id"]] = kind(request["model"], request["file"], self.device, self.mode)
        return {"operators": 0}, []

    def do_set_inputs(self, request, descriptors):
        graph = self.graphs[request["id"]]
        graph.set_inputs(graph.replaced.take(request, descriptors, dict(zip(graph.arguments, graph.originals))))
        return {}, []

    def do_run(self, request, descriptors):
        graph = self.graphs[request["id"]]
        outputs = graph.run()
        entries, descriptor = write_bundle({**tensors_in(outputs), **graph.left})
        results = len(entries) - len(graph.left)
        return {"outputs": entries[:results], "inputs": entries[results:], "scalars": scalars_in(outputs)}, [descriptor]

    def do_time(self, request, descriptors):
        clock = clock_of(self.device, request.get("clock", "host"))
        graph, fresh, flush = self.graphs[request["id"]], request.get("fresh", False), request.get("flush", False)
        return {"times_us": graph.measure_us(request["calls"], clock, fresh, flush, request.get("settle", False)), "changed": 0}, []

    def do_unload(self, request, descriptors):
        graph = self.graphs.pop(request["id"], None)
        if graph and graph.compiled:  # else this would import Dynamo
            torch.compiler.reset()
        if self.device.type == "cuda":  # other processes use its memory as well
            del graph
            gc.unfreeze()
            gc.collect()
            torch.cuda.empty_cache()
        return {}, []


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--role", help="given by whoever starts a worker; makes no difference here")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--processors", help="libgomp, which PyTorch uses, is told by its environment")
    parser.add_argument("--device", default="cpu", help="cpu, cuda or cuda:N")
    parser.add_argument("--mode", choices=MODES, default="eager", help="how a module is called")
    parser.add_argument("--filter", help="file that holds the filter of system calls to enter before a graph is taken")
    arguments, _ = parser.parse_known_args()
    if arguments.mode == "cuda-graph" and arguments.device == "cpu":
        parser.error("--mode cuda-graph needs --device cuda")
    torch.set_num_threads(arguments.threads)
    connection, worker = Connection(3), Worker(arguments.device, arguments.mode)
    if arguments.filter:
        if worker.device.type == "cuda":  # whose devices the driver opens now
            torch.empty(1, device=worker.device)
            torch.cuda.synchronize()
        confine.enter(pathlib.Path(arguments.filter).read_bytes())
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
            if isinstance(problem, Refused):
                kind, text = problem.kind, str(problem)
            connection.send({"ok": False, "kind": kind, "error": text[:2000]})


if __name__ == "__main__":
    main()
