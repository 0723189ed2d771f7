"""One Python process per graph, as evaluators in Python work: how long it takes to check and time graphs that way.

Each process imports PyTorch, makes the inputs, runs the graph eagerly and as a CUDA graph, compares both, and does the trials
that `passnet eval --device cuda` does: 25 calls of warm-up, then 100 trials of both sides in each of five ways. Prints seconds
per graph; `passnet eval --sides eager` on the same graphs is what to compare it with.
"""

import argparse
import pathlib
import subprocess
import sys
import time

WARMUP, TRIALS = 25, 100


def load(graph):
    """(module, inputs) of a graph directory on the GPU; inputs follow the recorded mean and deviation."""
    import torch

    names = {}
    exec(compile((graph / "model.py").read_text().replace('device(type="cpu")', 'device(type="cuda")'), str(graph), "exec"), names)
    module = names["GraphModule"]()
    code = module.forward.__func__.__code__
    metas = {}
    for file in ("weight_meta.py", "input_meta.py"):
        if (graph / file).exists():
            records = {}
            exec((graph / file).read_text(), records)
            metas.update({value.name: value for value in records.values() if hasattr(value, "shape")})
    torch.manual_seed(0)
    inputs = []
    for name in code.co_varnames[1 : code.co_argcount]:
        meta = metas[name]
        dtype = getattr(torch, meta.dtype.removeprefix("torch."))
        if dtype.is_floating_point:
            inputs.append((torch.randn(meta.shape, device="cuda") * (meta.std or 1) + (meta.mean or 0)).to(dtype))
        elif getattr(meta, "data", None) is not None:
            inputs.append(torch.tensor(meta.data, device="cuda").to(dtype).reshape(meta.shape))
        else:
            inputs.append(torch.randint(getattr(meta, "min_val", 0) or 0, (getattr(meta, "max_val", 1) or 1) + 1, meta.shape, device="cuda").to(dtype))
    return module, inputs


def evaluate(graph):
    import torch

    module, inputs = load(graph)
    scratch = torch.empty(256 << 20, dtype=torch.uint8, device="cuda")
    with torch.no_grad():
        sets = [[tensor.clone() for tensor in inputs] for _ in range(3)]  # some graphs change their inputs
        expected = module(*sets[0])
        own = [tensor.clone() for tensor in inputs]
        side = torch.cuda.Stream()
        with torch.cuda.stream(side):
            module(*sets[1])
        captured = torch.cuda.CUDAGraph()
        with torch.cuda.graph(captured):
            static = module(*own)

        def replay(*fresh):
            for place, given in zip(own, fresh):
                place.copy_(given)
            captured.replay()
            return [output.clone() for output in static]

        for found, wanted in zip(replay(*inputs), expected):
            torch.testing.assert_close(found, wanted, equal_nan=True)
        events = [torch.cuda.Event(enable_timing=True) for _ in range(2)]
        for fresh, flush, device in ((1, 0, 0), (0, 0, 0), (1, 1, 0), (1, 0, 1), (1, 1, 1)):
            for call in (module, replay):
                for trial in range(WARMUP + TRIALS if (fresh, flush, device) == (1, 0, 0) else TRIALS):
                    given = sets[trial % 3] if fresh else inputs
                    if flush:
                        scratch.zero_()
                    if device:
                        torch.cuda._sleep(400_000)
                    torch.cuda.synchronize()
                    events[0].record()
                    call(*given)
                    events[1].record()
                    torch.cuda.synchronize()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("corpus", type=pathlib.Path, help="a directory of graphs; with --one a graph")
    parser.add_argument("--one", action="store_true", help="evaluate the graph in this process")
    parser.add_argument("--limit", type=int, default=12)
    arguments = parser.parse_args()
    if arguments.one:
        return evaluate(arguments.corpus)
    graphs = sorted(model.parent for model in arguments.corpus.rglob("model.py"))[: arguments.limit]
    done, start = 0, time.perf_counter()
    for graph in graphs:
        ended = subprocess.run([sys.executable, __file__, "--one", graph], capture_output=True, text=True)
        done += ended.returncode == 0
        if ended.returncode != 0:
            print(f"{graph.name}: {ended.stderr.strip().splitlines()[-1:]}", file=sys.stderr)
    seconds = time.perf_counter() - start
    print(f"{len(graphs)} graphs, {done} without an error: {seconds / len(graphs):.2f} s per graph, {3600 * len(graphs) / seconds:.0f} per hour")
    return None


if __name__ == "__main__":
    main()
