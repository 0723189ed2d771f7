"""Every operator of PyTorch's own test database with its sample arguments, as function, method and method in place: the
worker and PyTorch from Python must agree. Calls that PyTorch itself refuses are left out; those that PassNet refuses must be
targets of docs/operators.md.

Quick tier: each operator at one of its dtypes and on one of its samples, both by its place in the database. Full tier, or
with --samples: the first samples at each dtype.

Usage: op_database_test.py [--samples N] [--only NAME] [--all-dtypes]
"""
import argparse
import collections
import itertools
import os
import pathlib
import re
import sys
import warnings

import torch

sys.path[:0] = [os.path.dirname(__file__), os.path.join(os.path.dirname(__file__), "..")]
import parity_check  # noqa: E402
import worker_client  # noqa: E402
from operator_database import op_db  # noqa: E402
from tiers import FULL  # noqa: E402

BINARY = os.path.join(os.environ.get("PASSNET_BINARY_DIR", "build"), "bin/passnet-worker")
DOCUMENT = pathlib.Path(os.environ.get("PASSNET_SOURCE_DIR", ".")) / "docs/operators.md"
DTYPES = [torch.float32, torch.int64, torch.bool, torch.complex64, torch.bfloat16]
SAMPLES = 6  # of each operator and dtype
# Memory that was never written, and what only a GPU has.
LEFT_OUT = re.compile(r"^(empty|new_empty|.*scaled_mm|sparse\.|torch\.ops|jiterator)")


class NoText(Exception):
    """A value that the text of a graph does not hold."""


class Call:
    """A call as text, and the tensors that it names a0, a1, …"""

    def __init__(self, name, is_method, sample):
        self.tensors = []
        args = [self.text(value) for value in (sample.input, *sample.args)]
        args += [f"{key}={self.text(value)}" for key, value in sample.kwargs.items()]
        self.line = f"{args[0]}.{name}({', '.join(args[1:])})" if is_method else f"{name}({', '.join(args)})"

    def text(self, value):
        if isinstance(value, torch.Tensor):
            if value.layout != torch.strided or value.is_quantized:
                raise NoText
            self.tensors.append(value.detach().resolve_conj().resolve_neg().contiguous())
            return f"a{len(self.tensors) - 1}"
        if isinstance(value, (torch.Size, list)):
            return f"[{', '.join(map(self.text, value))}]"
        if type(value) is tuple:
            return f"({''.join(self.text(element) + ', ' for element in value)})"
        if isinstance(value, slice):
            return f"slice({self.text(value.start)}, {self.text(value.stop)}, {self.text(value.step)})"
        if isinstance(value, float):
            return {"inf": "inf", "-inf": "-inf", "nan": "float('nan')"}.get(repr(value), repr(value))
        if isinstance(value, torch.device):
            return "device(type='cpu')"
        if value is None or value is Ellipsis or isinstance(value, (bool, int, str, torch.dtype, torch.memory_format, torch.layout)):
            return repr(value)
        raise NoText

    def model(self, *lines):
        names = "".join(f", a{i}" for i in range(len(self.tensors)))
        body = "".join(f"        {line}\n" for line in (f"z = {self.line}", *lines))
        return f"import torch\nfrom torch import device, inf\n\nclass GraphModule(torch.nn.Module):\n\n    def forward(self{names}):\n{body}"

    def inputs(self):
        return {f"a{i}": tensor.clone() for i, tensor in enumerate(self.tensors)}

    def outputs(self, result, in_place):
        """Lines that take the result apart and return all its values."""
        lines, names = [], []
        if isinstance(result, (tuple, list)) and not isinstance(result, torch.Size):
            for i, element in enumerate(result):
                lines.append(f"z{i} = z[{i}]")
                nested = range(len(element)) if isinstance(element, (tuple, list)) else ()
                lines += [f"z{i}_{k} = z{i}[{k}]" for k in nested]
                names += [f"z{i}_{k}" for k in nested] or [f"z{i}"]
        else:
            names.append("z")
        return [*lines, f"return ({''.join(name + ', ' for name in names + ['a0'] * in_place)})"]


def write_bundle(tensors):
    arrays = {}
    for name, tensor in tensors.items():
        bits = tensor.view(torch.uint16) if tensor.dtype == torch.bfloat16 else tensor
        arrays[name] = str(tensor.dtype).removeprefix("torch."), bits.numpy()
    return worker_client.write_bundle(arrays)


class OpDatabase:
    def __init__(self, options):
        self.options = options
        self.worker = worker_client.Worker(BINARY, threads=1)
        self.counts, self.findings = collections.Counter(), {}
        text = DOCUMENT.read_text().partition("## The operator table")[0] if DOCUMENT.exists() else ""
        self.refused = set(re.findall(r"`((?:torch|Tensor)\.[\w.]+)`", text))
        self.reasons = set(re.findall(r"^\| (\w+) \| it", text, re.MULTILINE))

    def run(self):
        for turn, op in enumerate(op_db):
            if LEFT_OUT.search(op.name) or self.options.only not in op.name:
                continue
            supported = op.supported_dtypes("cpu")
            dtypes = [dtype for dtype in (DTYPES if self.options.all_dtypes else DTYPES[:2]) if dtype in supported]
            if self.options.samples or FULL:
                for dtype in dtypes:
                    self.run_samples(op, self.samples(op, dtype, self.options.samples or SAMPLES))
            elif dtypes:
                place = turn // len(dtypes) % SAMPLES
                self.run_samples(op, self.samples(op, dtypes[turn % len(dtypes)], place + 1)[-1:])
        for (verdict, name, detail), (count, call) in self.findings.items():
            print(f"{verdict} {count}x {name}: {detail}\n    {call}")
        print(f"{sum(self.counts.values())} calls: " + ", ".join(f"{count} {verdict}" for verdict, count in self.counts.items()))
        return 1 if self.findings or not self.counts["equal"] else 0

    @staticmethod
    def samples(op, dtype, count):
        """The first samples, as many as there are."""
        return list(itertools.islice(op.sample_inputs("cpu", dtype, requires_grad=False), count))

    def run_samples(self, op, samples):
        for sample in samples:
            for name, is_method, in_place in ((f"torch.{op.name}", False, False), (op.name, True, False), (f"{op.name}_", True, True)):
                if is_method and not (isinstance(sample.input, torch.Tensor) and hasattr(torch.Tensor, name)):
                    continue
                try:
                    call = Call(name, is_method, sample)
                except NoText:
                    continue
                self.run_call(call, f"Tensor.{name}" if is_method else name, in_place)

    def run_call(self, call, target, in_place):
        expected, text = self.ask_pytorch(call, in_place)
        if expected is None:
            self.counts["left out"] += 1
            return
        try:
            self.worker.ask("load", id="g", file="model.py", model=text)
            entries, fd = write_bundle(call.inputs())
            self.worker.ask("set_inputs", fds=[fd], id="g", tensors=entries)
            os.close(fd)
            reply, fds = self.worker.ask("run", id="g", checked=False)
            verdict, _, detail = parity_check.compare(expected, parity_check.map_tensors(reply["outputs"], fds[0]), reply["scalars"])
        except worker_client.WorkerError as error:
            verdict, detail = "refused", re.sub(r"^model.py:\d+:\d+: ", "", str(error))
            reason = re.search(r" is not run: .* \((\w+)\)", detail)
            if reason and reason[1] in self.reasons:
                verdict = "refused as documented"
            if " is not run: " in detail and any(target == name or target.startswith(name + ".") for name in self.refused):
                verdict = "refused as documented"
        self.counts[verdict] += 1
        if verdict in ("refused", "differs"):
            count, first = self.findings.get((verdict, target, detail), (0, call.line))
            self.findings[verdict, target, detail] = count + 1, first

    def ask_pytorch(self, call, in_place):
        """(what PyTorch's outputs are, the model that gives them), or (None, None) when it does not take the call or gives what is no output
        of a graph (sparse tensors, unsigned integers)."""
        try:
            result = parity_check.call_module(parity_check.load_module(call.model("return (z,)"), "model.py"), call.inputs())[0]
            text = call.model(*call.outputs(result, in_place))
            expected = parity_check.call_module(parity_check.load_module(text, "model.py"), call.inputs())
        except Exception:  # noqa: BLE001: PyTorch may say anything to a form of the call that it does not have
            return None, None
        tensors = [value for value in expected if isinstance(value, torch.Tensor)]
        known = all(value.layout == torch.strided and str(value.dtype)[6:] in worker_client.DTYPES for value in tensors)
        return (expected, text) if known else (None, None)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=int, default=0, help="the first N of each operator and dtype")
    parser.add_argument("--only", default="", help="operators whose name contains this")
    parser.add_argument("--all-dtypes", action="store_true", help="bool, complex64 and bfloat16 too")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    return OpDatabase(options).run()


if __name__ == "__main__":
    sys.exit(main())
