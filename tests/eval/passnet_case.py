"""A sample made on the spot, and `passnet` run on it: the base of the end-to-end tests.

The sample is one graph, relu(x + y), in float32; a test gives the pass (or takes the right one) and reads the records.
"""

import fcntl
import itertools
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import textwrap
import time
import unittest

BINARY = pathlib.Path(os.environ["PASSNET_BINARY_DIR"]) / "bin" / "passnet"

MODEL = """\
import torch

class GraphModule(torch.nn.Module):

    def forward(self, in_0, in_1):
        tmp_0 = in_0 + in_1
        tmp_1 = torch.nn.functional.relu(tmp_0, inplace = False)
        return (tmp_1,)
"""

META = """\
class Program_weight_tensor_meta_{name}:
\tname = "{name}"
\tshape = [{shape}]
\tdtype = "torch.float32"
\tdevice = "cpu"
\tmean = 0.5
\tstd = 2.0
"""

PASS = """\
import torch

def pattern(x, y):
    return torch.nn.functional.relu(x + y)

def replacement_args(x, y):
    return (x, y)

def add_relu(x, y):
    out = torch.empty_like(x)
    add_relu_kernel[(2,)](x, y, out, x.numel(), T=x.dtype)
    return out

def replacement_func():
    return add_relu
"""

KERNEL = """\
#include <passnet/kernel.h>

PASSNET_KERNEL add_relu_kernel(const T* x, const T* y, T* out, int64_t n) {
  const auto [first, last] = passnet::chunk(n);
  for (int64_t i = first; i < last; ++i) {
%s
  }
}
"""
RIGHT_BODY = "    out[i] = x[i] + y[i] < 0 ? 0 : x[i] + y[i];"


def kernel(body):
    """A kernel whose loop over this task's elements has `body`."""
    return KERNEL % textwrap.indent(textwrap.dedent(body).strip("\n"), "    ")


# Few calls, for tests that look at no times.
QUICK = ("--warmup", 1, "--trials", 2)


CLAIMED = []  # files whose locks say which processor this process has taken


def descendants(pid):
    """The processes below one, each before those below it."""
    found = []
    for child in subprocess.run(["pgrep", "-P", str(pid)], capture_output=True, text=True).stdout.split():
        found += [int(child), *descendants(child)]
    return found


def cells(pid):
    """The processes below one that run kernels."""
    found = []
    for child in descendants(pid):
        try:
            if pathlib.Path(f"/proc/{child}/comm").read_text() == "passnet-cell\n":
                found.append(child)
        except OSError:
            continue
    return found


def take_one_processor():
    """Leaves this process, and what it starts, the processor that the fewest other suites have taken.

    Evaluations of several suites then run side by side and disturb each other little.
    """
    for others in itertools.count():
        for processor in sorted(os.sched_getaffinity(0)):
            claim = open(pathlib.Path(tempfile.gettempdir()) / f"passnet-test-processor-{os.getuid()}-{processor}-{others}", "w")
            try:
                fcntl.flock(claim, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                claim.close()
                continue
            CLAIMED.append(claim)
            os.sched_setaffinity(0, {processor})
            return


class PassnetCase(unittest.TestCase):
    timing = ("--warmup", 3, "--trials", 12)

    def setUp(self):
        self.root = pathlib.Path(tempfile.mkdtemp(prefix="passnet-eval-"))
        self.addCleanup(shutil.rmtree, self.root, ignore_errors=True)
        self.sample = self.root / "sample"
        self.out = self.root / "out"
        self.write_sample(["small"])

    def write_sample(self, graphs, shape="40, 50"):
        for graph in graphs:
            directory = self.sample / "graphs" / graph
            directory.mkdir(parents=True, exist_ok=True)
            (directory / "model.py").write_text(MODEL)
            (directory / "weight_meta.py").write_text("\n".join(META.format(name=name, shape=shape) for name in ("in_0", "in_1")))
        (self.sample / "graph_list.txt").write_text("".join(f"{graph}\n" for graph in graphs))
        self.write_pass()

    def write_pass(self, source=PASS, kernel_source=KERNEL % RIGHT_BODY, name="add_relu"):
        directory = self.sample / "pass_dir"
        directory.mkdir(exist_ok=True)
        (directory / f"{name}.py").write_text(source)
        (directory / f"{name}.cpp").write_text(kernel_source)
        (directory / "sorted_output_pass_rule_names.json").write_text(json.dumps([name]))

    def add_sample(self, name, source=PASS, kernel_source=KERNEL % RIGHT_BODY):
        """A copy of the sample with this pass, beside it; returns its directory."""
        directory = self.root / name
        shutil.copytree(self.sample, directory)
        (directory / "pass_dir" / "add_relu.py").write_text(source)
        (directory / "pass_dir" / "add_relu.cpp").write_text(kernel_source)
        return directory

    def add_list(self, names):
        """Samples of these names, and a list of them; returns the list."""
        path = self.root / "list.txt"
        path.write_text("".join(f"{self.add_sample(name)}\n" for name in names))
        return path

    def passnet(self, *arguments, **options):
        """Runs passnet; returns the completed process. Ends the test when it hangs."""
        return subprocess.run([str(BINARY), *map(str, arguments)], capture_output=True, text=True, timeout=240,
                              stdin=subprocess.DEVNULL, **options)

    def evaluate(self, *flags, sample=None, **options):
        """Into self.out, from the start unless a flag says to go on."""
        fresh = () if "--resume" in flags else ("--force",)
        timing = dict(zip(self.timing[::2], self.timing[1::2]))
        timing = [word for name, value in timing.items() if name not in flags for word in (name, value)]
        return self.passnet("eval", sample or self.sample, "--out", self.out, *timing, *fresh, *flags, **options)

    def evaluate_samples(self, samples, *flags, code=(0, 1, 3)):
        """One run of these samples, of one graph each; returns the records by sample."""
        listing = self.root / "samples.txt"
        listing.write_text("".join(f"{sample}\n" for sample in samples))
        done = self.evaluate(*flags, sample=listing)
        self.assertIn(done.returncode, code, done.stderr)
        found = {sample.name: self.records(sample.name) for sample in samples}
        self.assertEqual({name: len(records) for name, records in found.items()}, dict.fromkeys(found, 1))
        return {name: record for name, (record,) in found.items()}

    @classmethod
    def in_directory_of_class(cls, kind=None):
        """A case of class `kind` whose sample and run last as long as this class. Its tests only read them."""
        case = (kind or PassnetCase)()
        case.timing = cls.timing
        case.root = pathlib.Path(tempfile.mkdtemp(prefix="passnet-eval-"))
        cls.addClassCleanup(shutil.rmtree, case.root, ignore_errors=True)
        case.sample, case.out = case.root / "sample", case.root / "out"
        case.write_sample(["small"])
        return case

    def wait_for_kernel(self, pid):
        """Waits until a kernel runs below a process."""
        deadline = time.monotonic() + 60
        while not cells(pid):
            self.assertLess(time.monotonic(), deadline, "no kernel was run")
            time.sleep(0.05)

    def records(self, sample="sample"):
        lines = (self.out / sample / "records.jsonl").read_text().splitlines()
        return [json.loads(line) for line in lines]

    def assert_timed(self, record, trials):
        """Both sides were timed that often, but for what other processes disturbed: that is dropped, and counted."""
        for side in ("reference", "candidate"):
            count = len(record[side]["trials_us"])
            self.assertLessEqual(count, trials)
            self.assertTrue(count == trials or record["load"]["dropped_pairs"] > 0, (count, record["load"]))

    def only_record(self, *flags):
        """Evaluates and returns the record of the one graph."""
        done = self.evaluate(*flags)
        self.assertIn(done.returncode, (0, 1, 3), done.stderr)
        records = self.records()
        self.assertEqual(len(records), 1)
        return records[0]
