"""Runs the benchmarks and prints their figures beside the targets. Started by scripts/bench."""

import argparse
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tests" / "runtime"))
import author_figures  # noqa: E402
import parity  # noqa: E402


class Bench:
    def __init__(self, root, quick):
        self.root, self.quick = root, quick
        self.binaries, self.out = root / "build" / "bin", root / "build" / "bench"
        self.corpus = root.parent / "shared" / "corpus" / "passbench"
        # What the reading figures go over: the whole shared corpus, else the shipped samples.
        self.graphs = self.corpus.parent if self.corpus.exists() else root / "samples"
        self.figures = []  # (what, found, target, reached)
        self.out.mkdir(parents=True, exist_ok=True)
        busy = os.getloadavg()[0]
        if busy > 0.5:
            print(f"warn: load average is {busy:.1f}: other programs are running, and figures will suffer", file=sys.stderr)

    def run(self, title, *command):
        """Runs one benchmark; what it prints is shown."""
        print(f"\n## {title}\n", flush=True)
        subprocess.run([str(part) for part in command], check=True, cwd=self.root)

    def load(self, name):
        return json.loads((self.out / name).read_text())

    def figure(self, what, value, unit, target, at_least=True):
        """target: None where there is none."""
        self.figures.append(author_figures.row(what, value, unit, target, at_least))

    def parsing(self):
        script = self.root / "benchmarks" / "parse_against_python.py"
        print("\n## Reading model.py\n", flush=True)
        done = subprocess.run([sys.executable, script, self.binaries / "parse_benchmark", self.graphs],
                              check=True, cwd=self.root, stdout=subprocess.PIPE, text=True)
        print(done.stdout)
        report = json.loads(done.stdout)
        self.figure("reading model.py", report["ours_mb_per_s"], "MB/s", 200)
        self.ast_mb_per_s = report["ast_parse_mb_per_s"]
        print(f"CPython's ast.parse on the same files: {self.ast_mb_per_s} MB/s")

    def checking(self):
        """All graphs read, verified, printed back and compared, on one core."""
        print("\n## Checking graphs\n", flush=True)
        done = subprocess.run([self.binaries / "check_benchmark", self.graphs], check=True, cwd=self.root, stdout=subprocess.PIPE, text=True)
        print(done.stdout)
        report = json.loads(done.stdout)
        self.figure("parse, verify, print, parse again, compare", report["model_mb_per_s"], "MB/s", 150)
        self.figure("most heap over the size of model.py", report["peak_over_text"], "x", 40, at_least=False)
        print(f"CPython's ast.parse alone, on the same files: {self.ast_mb_per_s} MB/s")
        print(f"`passnet graph check`, all files of a graph, hash included: {report['full_mb_per_s']} MB/s of {report['full_bytes']} bytes")

    def startup(self):
        times = [self.timed(self.binaries / "passnet", "--help") for _ in range(11)]
        self.figure("passnet --help", statistics.median(times) * 1000, "ms", 30, at_least=False)

    def queue(self):
        """Items of a queue in a directory, claimed and finished by processes side by side."""
        items, directory = (20000 if self.quick else 200000), self.out / "queue"
        shutil.rmtree(directory, ignore_errors=True)
        done = subprocess.run([self.binaries / "queue_claims", directory, str(items), "8"], check=True, stdout=subprocess.PIPE, text=True)
        shutil.rmtree(directory)
        print(f"\n## Queue\n\n{done.stdout}")
        report = json.loads(done.stdout)
        self.figure("queue in a directory: items claimed and finished", report["claims_per_s"], "/s", 1000)
        self.figure(f"queue: of {items} items claimed twice or never", report["claimed_twice"] + report["never_claimed"], "", 0, at_least=False)

    def one_sample(self):
        """Wall time of a whole evaluation, 25 + 100 trials included, kernels in the cache."""
        sample = self.root / "samples" / "vit_add_layer_norm"
        out = self.out / "eval"
        times = [self.timed(self.binaries / "passnet", "eval", sample, "--out", out, "--force") for _ in range(6)]
        print(f"\n## Evaluating one sample\n\n{sample.name}: " + ", ".join(f"{t:.2f} s" for t in times))
        graphs = len((sample / "graph_list.txt").read_text().split())
        self.figure(f"evaluating one sample of {graphs} graphs, warm", statistics.median(times[1:]), "s", 1.5, at_least=False)

    def timed(self, *command):
        start = time.perf_counter()
        subprocess.run([str(part) for part in command], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        return time.perf_counter() - start

    def operators(self):
        out = self.out / "operator_overhead.json"
        self.run("Overhead per operator at tiny shapes", self.binaries / "operator_overhead", "--out", out)
        self.figure("PyTorch's overhead per operator over ours", self.load(out.name)["geometric_mean"], "x", 1.5)

    def against_torch_compile(self):
        out = self.out / "against_torch_compile.json"
        command = [self.binaries / "against_torch_compile", "--out", out, "--threads", "2"]
        command += ["--corpus", self.corpus] if self.corpus.exists() else []
        command += ["--limit", "3"] if self.quick else []
        self.run("PyTorch eager, torch.compile, our eager, our passes", *command)
        targets = {
            ("corpus", "our eager", "PyTorch eager"): 1.1,
            ("samples", "our passes", "PyTorch eager"): 2,
            ("samples", "our passes", "torch.compile"): 3,
        }
        for line in self.load(out.name)["summary"]:
            target = targets.get((line["set"], line["side"], line["over"]))
            if target:
                self.figure(f"{line['set']}: {line['side']} over {line['over']}", line["geometric_mean"], "x", target)

    def author(self):
        """PassBench-C: passes without a model for its tasks, and some of their graphs beside PyTorch with these."""
        tasks, authored = self.out / "passbench_c_tasks", self.out / "authored"
        for old in (tasks, authored, self.out / "passbench_c"):
            shutil.rmtree(old, ignore_errors=True)
        subprocess.run([self.root / "scripts" / "passbench", "unpack", self.out], check=True)
        tasks.mkdir()
        samples = sorted((self.out / "passbench_c" / "samples").iterdir())[:: 20 if self.quick else 1]
        for sample in samples:
            (tasks / sample.name).symlink_to(sample)
        self.run("PassBench-C, passes without a model", self.binaries / "passnet", "author", tasks, "-o", authored)
        out = self.out / "authored_against_torch_compile.json"
        # torch.compile takes 5 s and more for a graph.
        self.run("PassBench-C, authored passes beside PyTorch", self.binaries / "against_torch_compile", "--samples", tasks, "--authored", authored,
                 "--every", "5" if self.quick else "10", "--threads", "2", "--out", out)
        for what, *rest in author_figures.of_samples(authored, 20) + author_figures.of_times(out, 2.5, 4) + author_figures.score_over_python(authored, out, None):
            self.figure(f"PassBench-C: {what}", *rest)

    def tensor_memory(self):
        """What tensors hold at a time in our call and in PyTorch's, graph by graph."""
        out = self.out / "parity.jsonl"
        roots = [self.corpus.parent] if self.corpus.exists() else [self.root / "samples"]
        self.run("Memory of tensors, beside PyTorch's", sys.executable, self.root / "tests" / "runtime" / "parity.py", *roots, "--memory",
                 "--max-elements", "4e6", "--every", "4" if self.quick else "1", "--threshold", "0", "--json", out,
                 "--worker", self.binaries / "passnet-worker")
        ratios = parity.memory_ratios([json.loads(line) for line in out.read_text().splitlines()])
        self.figure("peak tensor memory over PyTorch's, worst graph", max(ratios.values()), "x", 1.2, at_least=False)

    def print_figures(self):
        print("\n## Figures and targets\n\n" + author_figures.table("figure", self.figures))
        if not self.corpus.exists():
            print(f"\n{self.corpus} is not there: the figures over the corpus were left out.")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("root", type=pathlib.Path)
    parser.add_argument("--quick", action="store_true", help="a few graphs of each set only, to see that it works")
    arguments = parser.parse_args()
    bench = Bench(arguments.root, arguments.quick)
    bench.startup()
    bench.parsing()
    bench.checking()
    bench.queue()
    bench.one_sample()
    bench.operators()
    bench.against_torch_compile()
    bench.author()
    bench.tensor_memory()
    bench.print_figures()


if __name__ == "__main__":
    sys.exit(main())
