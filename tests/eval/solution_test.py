"""`passnet pass new --from SOLUTION.json`: a solution of FlashInfer-Trace is judged on graphs of its workloads.

The solution's kernel is for the CPU, so that any machine can check it.
"""

import json
import os
import unittest

import passnet_case

passnet_case.take_one_processor()

DEFINITION = {
    "name": "add_relu_w50",
    "op_type": "add_relu",
    "axes": {"rows": {"type": "var"}, "width": {"type": "const", "value": 50}},
    "inputs": {name: {"shape": ["rows", "width"], "dtype": "float32"} for name in "xy"},
    "outputs": {"out": {"shape": ["rows", "width"], "dtype": "float32"}},
    "reference": "import torch\n\n@torch.no_grad()\ndef run(x, y):\n    rows, width = x.shape\n    assert width == 50\n"
                 "    return torch.nn.functional.relu(x + y)\n",
}
MAIN = "def run(x, y, out):\n    add_relu_kernel[(2,)](x, y, out, x.numel(), T=x.dtype)\n"
SOLUTION = {
    "name": "fast",
    "definition": "add_relu_w50",
    "author": "me",
    "spec": {"language": "cpp", "target_hardware": ["cpu"], "entry_point": "main.py::run"},
    "sources": [{"path": "main.py", "content": MAIN}, {"path": "kernel.cpp", "content": passnet_case.KERNEL % passnet_case.RIGHT_BODY}],
}


def workload(rows, kind="random"):
    return {"definition": "add_relu_w50", "solution": None, "evaluation": None,
            "workload": {"uuid": f"u{rows}", "axes": {"rows": rows}, "inputs": {"x": {"type": kind}, "y": {"type": "random"}}}}


class Solution(passnet_case.PassnetCase):
    def setUp(self):
        super().setUp()
        self.write("trace/definitions/add_relu/add_relu_w50.json", json.dumps(DEFINITION))
        self.write("trace/workloads/add_relu/add_relu_w50.jsonl",
                   "".join(json.dumps(one) + "\n" for one in (workload(40), workload(3), workload(7, "safetensors"), workload(40))))
        self.write("trace/solutions/me/fast.json", json.dumps(SOLUTION))

    def write(self, name, text):
        (self.root / name).parent.mkdir(parents=True, exist_ok=True)
        (self.root / name).write_text(text)

    def new(self, *arguments):
        return self.passnet("pass", "new", "add_relu", *arguments, "--from", "trace/solutions/me/fast.json", cwd=self.root)

    def check(self):
        """Verdict and replaced sites of each graph."""
        done = self.passnet("pass", "check", "made", "--json", cwd=self.root)
        return {one["graph"]: (one["verdict"], one["sites"]) for one in json.loads(done.stdout)["graphs"]}

    def test_is_judged_on_its_workloads(self):
        done = self.new("made/pass_dir")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout, "wrote made/pass_dir/add_relu.py\nwrote made/pass_dir/add_relu.cpp\n"
                                      "wrote made/pass_dir/sorted_output_pass_rule_names.json\n"
                                      "wrote made/graphs/rows_40\nwrote made/graphs/rows_3\n"
                                      "left out: workload of line 3\n"
                                      "  input 'x' is of type 'safetensors', expected 'random'\n")
        self.assertEqual(self.check(), {"graphs/rows_3": ("correct", 1), "graphs/rows_40": ("correct", 1)})

    def test_that_is_wrong_is_found_out(self):
        sources = [SOLUTION["sources"][0], {"path": "kernel.cpp", "content": passnet_case.KERNEL % "    out[i] = x[i] + y[i];"}]
        self.write("trace/solutions/me/fast.json", json.dumps(SOLUTION | {"sources": sources}))
        self.assertEqual(self.new("made/pass_dir").returncode, 0)
        self.assertEqual({verdict for verdict, _ in self.check().values()}, {"wrong"})

    def test_without_graphs_says_why(self):
        done = self.new("passes")
        self.assertEqual(done.stdout.splitlines()[-2:], ["left out: graphs", "  name DIR 'SAMPLE/pass_dir' to have them in SAMPLE/graphs"])
        (self.root / "trace/workloads/add_relu/add_relu_w50.jsonl").unlink()
        done = self.new("made/pass_dir", "--json")
        self.assertEqual(json.loads(done.stdout)["left_out"],
                         [{"statement": "graphs", "why": f"there are no workloads in '{self.root}/trace/workloads/add_relu/add_relu_w50.jsonl'"}])

    def test_takes_no_range(self):
        done = self.new("made/pass_dir", "--range", "0:1")
        self.assertEqual((done.returncode, done.stderr), (2, "error: --range is for graphs, and --from names a solution\nhint: leave --range away\n"))


class Profile(passnet_case.PassnetCase):
    def profile(self, *options):
        """Exit code and message where PATH has this test's programs alone."""
        done = self.passnet("pass", "profile", self.sample, self.sample / "graphs" / "small", *options,
                            env={"PATH": str(self.root), "HOME": os.environ["HOME"]})
        return done.returncode, done.stderr

    def test_says_how_to_get_ncu(self):
        self.assertEqual(self.profile(), (4, "error: no 'ncu' on PATH: it reads the counters of a GPU\n"
                                             "hint: install NVIDIA Nsight Compute ('apt install nsight-compute', or with CUDA's toolkit) and put it on PATH\n"))

    def test_is_for_gpus(self):
        ncu = self.root / "ncu"
        ncu.write_text("#!/bin/sh\n")
        ncu.chmod(0o755)
        self.assertEqual(self.profile("--device", "cpu"), (3, "error: ncu reads the counters of GPUs\nhint: --device cuda\n"))


if __name__ == "__main__":
    unittest.main(verbosity=2)
