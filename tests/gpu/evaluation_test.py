"""Evaluation on a GPU, end to end: what a record holds, and kernels that misbehave. Skipped where there is no GPU."""

import os
import pathlib
import statistics
import sys
import textwrap

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "eval"))
from gpu_main import main  # noqa: E402
from passnet_case import META, PASS, PassnetCase  # noqa: E402

GPU_PASS = PASS.replace("[(2,)]", "[(8,), 128]")
KERNEL = """\
#include <passnet/kernel.h>

PASSNET_KERNEL add_relu_kernel(const T* x, const T* y, T* out, int64_t n) {
  for (int64_t i = passnet::global_index(); i < n; i += passnet::global_count()) {
%s
  }
}
"""
RIGHT = "out[i] = x[i] + y[i] < 0 ? 0 : x[i] + y[i];"
# As CUDA's library has it, and as kernel.h has it.
TABLE = """\
extern "C" __device__ uint32_t __cudart_i2opi_f[6] = {0x3c439041, 0xdb629599, 0xf534ddc0,
                                                      0xfc2757d1, 0x4e441529, 0xa2f9836e};
"""
PARAMETERS = "extern __device__ const passnet::detail::ParameterText passnet_parameters_add_relu_kernel;\n"


# The index is a difference of two places, so it is below 0 as soon as the places change order.
DIFFERENCE = """\
import torch

class GraphModule(torch.nn.Module):

    def forward(self, in_0, in_1, in_2, in_3):
        tmp_0 = in_2[(slice(None, None, None), 1)]
        tmp_1 = in_2[(slice(None, None, None), 0)]
        tmp_2 = tmp_0 - tmp_1
        tmp_3 = torch.nn.functional.embedding(tmp_2, in_3)
        tmp_4 = tmp_3 + in_0
        tmp_5 = tmp_4 + in_1
        tmp_6 = torch.nn.functional.relu(tmp_5, inplace = False)
        return (tmp_6,)
"""
PLACES = """\
class Program_weight_tensor_meta_in_2:
\tname = "in_2"
\tshape = [40, 2]
\tdtype = "torch.int64"
\tdevice = "cuda:0"
\tmin_val = %d
\tmax_val = %d
"""


class GpuCase(PassnetCase):
    def write_pass(self, source=GPU_PASS, body=RIGHT, name="add_relu", before=""):
        """before: what stands before the kernel."""
        super().write_pass(source=source, name=name)
        text = KERNEL % textwrap.indent(body, "    ")
        (self.sample / "pass_dir" / f"{name}.cu").write_text(text.replace("PASSNET_KERNEL", before + "PASSNET_KERNEL"))

    def evaluate(self, *flags, **options):
        return super().evaluate("--device", "cuda", *flags, **options)

    def failure(self, body, *flags, before=""):
        self.write_pass(body=body, before=before)
        return self.only_record(*flags)


class Evaluation(GpuCase):
    def test_right_kernel_is_correct_and_timed_in_every_way(self):
        record = self.only_record()
        self.assertEqual((record["stage"], record["error"]), ("done", ""))
        self.assertEqual(record["device"], "cuda:0")
        self.assertEqual(record["outputs"][0]["passes_from"], -10)
        self.assertTrue(record["deterministic"])
        for side in (record["reference"], record["candidate"]):
            self.assertEqual(len(side["trials_us"]), 12)
            self.assertEqual(side["track"], {"clock": "host", "inputs": "new", "cache": "warm"})
            tracks = {(track["clock"], track["inputs"], track["cache"]) for track in side["others"]}
            expected = {("host", "planted", "warm"), ("host", "wider", "warm"), ("host", "same", "warm"), ("host", "fresh", "warm"), ("host", "fresh", "flushed"),
                        ("device", "fresh", "warm"), ("device", "fresh", "flushed")}
            self.assertEqual(tracks, expected)
            for track in side["others"]:
                self.assertGreater(min(track["trials_us"]), 0)
        self.assertEqual(record["reference"]["mode"], "operators")
        self.assertIn(record["candidate"]["mode"], ("graph", "direct"))
        for side in ("reference_memory", "candidate_memory"):
            self.assertGreater(record[side]["peak_bytes"], record[side]["kept_bytes"])
        self.assertNotIn("retried", record)

    def large_record(self, body):
        """Of outputs that are too large to be carried through host memory."""
        self.write_sample(["small"], shape="2000, 3000")
        self.write_pass(body=body)
        done = self.evaluate(env=dict(os.environ, PASSNET_LOG="debug"))
        self.assertIn("the outputs stay on the GPU", done.stderr)
        return self.records()[0]

    def test_large_outputs_are_compared_where_they_lie(self):
        self.assertEqual(self.large_record(RIGHT)["outputs"][0]["passes_from"], -10)
        wrong = self.large_record("float sum = x[i] + y[i]; out[i] = i == 4503002 ? 77 : sum < 0 ? 0 : sum;")
        mismatch = wrong["outputs"][0]["mismatch"]
        self.assertEqual((mismatch["beyond"], mismatch["different"], mismatch["first"]), (1, 1, [1501, 2]))

    def test_pass_check_runs_the_kernel_of_the_device(self):
        done = self.passnet("pass", "check", self.sample, "--device", "cuda")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("sample/small: correct, 1 site replaced", done.stdout)
        self.write_pass(body="out[i] = 7;")
        self.assertEqual(self.passnet("pass", "check", self.sample, "--device", "cuda").returncode, 1)
        self.assertEqual(self.passnet("pass", "check", self.sample).returncode, 0)

    def test_recorded_calls_and_operators_give_the_same(self):
        for mode in ("on", "off"):
            record = self.only_record("--cuda-graph", mode)
            self.assertEqual((record["stage"], record["error"]), ("done", ""))
            self.assertEqual(record["outputs"][0]["passes_from"], -10)
            self.assertTrue(record["deterministic"])

    def test_the_device_needs_less_time_than_the_host_sees(self):
        record = self.only_record()
        device = [track for track in record["candidate"]["others"] if track["clock"] == "device"]
        self.assertLess(statistics.median(device[0]["trials_us"]), statistics.median(record["candidate"]["trials_us"]))

    def test_half_precision(self):
        meta = self.sample / "graphs" / "small" / "weight_meta.py"
        for dtype in ("float16", "bfloat16"):
            meta.write_text(meta.read_text().replace("torch.float32", f"torch.{dtype}").replace("torch.float16", f"torch.{dtype}"))
            body = "out[i] = passnet::from_float<T>(passnet::relu(passnet::rounded<T>(passnet::to_float(x[i]) + passnet::to_float(y[i]))));"
            record = self.failure(body)
            self.assertEqual((record["stage"], record["error"]), ("done", ""))
            self.assertEqual(record["outputs"][0]["passes_from"], -10)

    def test_sines_of_large_numbers(self):
        graph = self.sample / "graphs" / "small"
        model, meta = graph / "model.py", graph / "weight_meta.py"
        model.write_text(model.read_text().replace("torch.nn.functional.relu(tmp_0, inplace = False)", "torch.sin(tmp_0)"))
        meta.write_text(meta.read_text().replace("std = 2.0", "std = 200000.0"))
        self.write_pass(source=GPU_PASS.replace("torch.nn.functional.relu(x + y)", "torch.sin(x + y)"),
                        body="out[i] = sinf(x[i] + y[i]);")
        for mode in ("auto", "off"):
            record = self.only_record("--cuda-graph", mode)
            self.assertEqual((record["stage"], record["error"]), ("done", ""))
            self.assertLessEqual(record["outputs"][0]["passes_from"], -6)

    def test_a_number_of_the_graph_is_where_kernels_read_it(self):
        model = self.sample / "graphs" / "small" / "model.py"
        number = "tmp_9 = torch.tensor(0.5, device = device(type='cuda', index=0))\n        tmp_1 = torch.max(tmp_0, tmp_9)"
        text = model.read_text().replace("tmp_1 = torch.nn.functional.relu(tmp_0, inplace = False)", number)
        model.write_text(text.replace("import torch\n", "import torch\n\nfrom torch import device\n"))
        self.write_pass(source=GPU_PASS.replace("torch.nn.functional.relu(x + y)", "torch.max(x, y)"), body="out[i] = x[i] < y[0] ? y[0] : x[i];")
        for mode in ("on", "off"):
            record = self.only_record("--cuda-graph", mode)
            self.assertEqual((record["stage"], record["error"]), ("done", ""))
            self.assertEqual(record["outputs"][0]["passes_from"], -10)


class BadKernels(GpuCase):
    def expect(self, record, stage, kind, *words):
        self.assertEqual((record["stage"], record["error_kind"]), (stage, kind), record["error"])
        for word in words:
            self.assertIn(word, record["error"])

    def test_wrong_result_is_compared_and_not_an_error(self):
        record = self.failure("out[i] = x[i] + y[i];")
        self.assertEqual((record["stage"], record["error"]), ("done", ""))
        self.assertGreater(record["outputs"][0]["passes_from"], -5)

    def test_write_past_the_end(self):
        self.expect(self.failure("out[i] = 0; if (i == n - 1) out[n] = 1;"), "run", "out-of-bounds", "add_relu_kernel", "the first byte behind its end")

    def test_write_before_the_start(self):
        self.expect(self.failure("out[i] = 0; if (i == 0) out[-1] = 1;"), "run", "out-of-bounds", "1 bytes before its start")

    def test_write_to_nowhere(self):
        self.expect(self.failure("*reinterpret_cast<float*>(8 * i + 8) = 1;"), "run", "out-of-bounds", "add_relu_kernel")

    def test_unwritten_output(self):
        self.expect(self.failure("if (i % 2) out[i] = 0;"), "run", "unwritten-output", "1000")

    def test_changed_input(self):
        self.expect(self.failure("const_cast<float*>(x)[i] = 1; out[i] = 0;"), "run", "input-changed", "add_relu_kernel")

    def test_endless_loop_is_killed(self):
        record = self.failure("while (*const_cast<const volatile float*>(x) > -1e30f) {} out[i] = 0;", "--timeout", "4")
        self.expect(record, "run", "timeout", "it was killed")

    def test_trap(self):
        self.expect(self.failure("__trap();"), "build", "bad-pass", "holds the instruction 'trap'")

    def test_state_between_launches_is_refused(self):
        record = self.failure("static float kept = 1; kept += x[i]; out[i] = kept;")
        self.expect(record, "build", "bad-pass", "kept", "outlives a launch")

    def test_state_in_what_the_library_brings(self):
        count = RIGHT + " if (i == 0) ++__cudart_i2opi_f[0];"
        self.expect(self.failure(count, before=TABLE), "run", "out-of-bounds", "add_relu_kernel", "wrote to '__cudart_i2opi_f'")

    def test_state_in_what_the_header_brings_is_refused(self):
        count = RIGHT + " if (i == 0) ++const_cast<char*>(passnet_parameters_add_relu_kernel.text)[1000];"
        self.expect(self.failure(count, before=PARAMETERS), "build", "bad-pass", "namespace 'passnet::detail' belongs to passnet/kernel.h")

    def test_state_that_is_written_in_timed_calls_alone(self):
        # Behind a buffer of a checked call stands 0xC7.
        count = RIGHT + " if (i == 0 && reinterpret_cast<const uint32_t*>(out)[n] != 0xC7C7C7C7) ++__cudart_i2opi_f[0];"
        record = self.failure(count, before=TABLE)
        self.assertEqual(record["error_kind"], "out-of-bounds", record["error"])
        self.assertIn("wrote to '__cudart_i2opi_f'", record["error"])

    def test_kernel_that_does_not_compile_gives_the_compilers_words(self):
        self.expect(self.failure("out[i] = undeclared;"), "build", "bad-pass", 'add_relu.cu:5:1: error: identifier "undeclared" is undefined')

    def test_no_kernel_for_this_device(self):
        (self.sample / "pass_dir" / "add_relu.cu").unlink()
        self.expect(self.only_record(), "build", "bad-pass", "no CUDA kernel", "add_relu.cu")

    def test_an_index_that_may_not_be_below_zero(self):
        for value in (0, 3):
            graph = self.sample / "graphs" / "small"
            (graph / "model.py").write_text(DIFFERENCE)
            metas = [META.format(name=name, shape=shape) for name, shape in (("in_0", "40, 50"), ("in_1", "40, 50"), ("in_3", "1, 50"))]
            (graph / "weight_meta.py").write_text("\n".join([*metas, PLACES % (value, value)]))
            record = self.only_record()
            self.assertEqual((record["stage"], record["error"]), ("done", ""))

    def test_the_next_graph_is_evaluated_as_if_nothing_had_been(self):
        self.write_sample(["first", "second"])
        self.write_pass(body="if (n == 2000) *reinterpret_cast<float*>(8 * i + 8) = 1; " + RIGHT)
        meta = self.sample / "graphs" / "second" / "weight_meta.py"
        meta.write_text(meta.read_text().replace("40, 50", "40, 60"))
        self.evaluate()
        kinds = [(record["stage"], record["error_kind"]) for record in self.records()]
        self.assertEqual(kinds, [("run", "out-of-bounds"), ("done", "")])


if __name__ == "__main__":
    main()
