"""The requests of docs/protocol.md that a candidate answers."""

import torch

from passnet_pytorch import bundles

from . import confine, passes
from .calls import LoadedGraph
from .errors import RequestError


class Requests:
    def __init__(self, device):
        self.device = device
        self.graphs = {}
        self.rules = {}  # by the files they were loaded from: a pass is executed once
        self.files = set()  # of the passes

    def answer(self, request, descriptors):
        """(fields, descriptors) of the reply."""
        handler = getattr(self, "do_" + request["do"], None)
        if handler is None:
            raise RequestError(f"a candidate in Python does not answer '{request['do']}'")
        return handler(request, descriptors)

    def graph(self, request):
        if request["id"] not in self.graphs:
            raise RequestError(f"no graph is loaded as '{request['id']}'")
        return self.graphs[request["id"]]

    def do_hello(self, request, descriptors):
        hardware = "" if self.device.type == "cpu" else torch.cuda.get_device_name(self.device)
        versions = {"torch": torch.__version__, "threads": torch.get_num_threads()}
        return {**versions, "hardware": hardware, "isolation": confine.describe()}, []

    def do_load(self, request, descriptors):
        files = tuple(request.get("passes", ()))
        self.files |= set(files)
        if files not in self.rules:
            self.rules[files] = passes.load(files) if files else []
        graph = LoadedGraph(request["model"], request["file"], self.rules[files], self.device)
        self.graphs[request["id"]] = graph
        return {"operators": graph.operators, "calls_at_once": 1, "passes": graph.outcomes}, []

    def do_set_inputs(self, request, descriptors):
        graph = self.graph(request)
        if "of" in request:
            other = self.graphs[request["of"]]
            tensors = dict(zip(other.names, other.originals))
        else:
            tensors = graph.replaced.take(request, descriptors, dict(zip(graph.names, graph.originals)))
        graph.set_inputs(tensors)
        graph.set_call_seed(request)
        return {}, []

    def do_run(self, request, descriptors):
        fields, outputs, inputs = self.graph(request).run()
        if request.get("share") == "none":
            return fields, []
        entries, descriptor = bundles.write_bundle({**outputs, **inputs})
        return {**fields, "outputs": entries[: len(outputs)], "inputs": entries[len(outputs) :]}, [descriptor]

    def do_time(self, request, descriptors):
        how = {"clock": request.get("clock", "host")}
        for name in ("fresh", "flush", "settle", "fingerprint"):
            how[name] = request.get(name, False)
        return self.graph(request).time(request["calls"], **how), []

    def do_read_clocks(self, request, descriptors):
        return self.graph(request).read_clocks(request["calls"]), []

    def do_set_call_sets(self, request, descriptors):
        self.graph(request).set_call_sets(request["tensors"], request["stride"], request["sets"], descriptors[0])
        return {}, []

    def do_time_on_sets(self, request, descriptors):
        if request.get("expected", False):
            raise RequestError("a candidate expects nothing")
        fields, tensors = self.graph(request).time_on_sets(request["calls"], request.get("together", 1), request.get("settling", 0), request.get("seed", 0))
        entries, descriptor = bundles.write_bundle(tensors)
        return {**fields, "outputs": entries}, [descriptor]

    def do_unload(self, request, descriptors):
        self.graphs.pop(request["id"], None)
        if self.device.type != "cuda":
            return {}, []
        torch.cuda.synchronize()
        torch.cuda.empty_cache()
        memory = {"peak_bytes": torch.cuda.max_memory_reserved(), "kept_bytes": torch.cuda.memory_reserved()}
        torch.cuda.reset_peak_memory_stats()
        return {"device_memory": memory}, []
