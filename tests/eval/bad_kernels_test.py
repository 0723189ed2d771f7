"""Kernels that misbehave become records with their reason, and the next graph is evaluated as if nothing had been.

The start of the workers takes longer than a graph, so one run evaluates all that is judged by its record alone.
"""

import unittest

from passnet_case import PASS, PassnetCase, kernel, take_one_processor

take_one_processor()

BODIES = {
    "wrong": "out[i] = x[i] + y[i];",
    "nans": 'out[i] = i < 3 ? __builtin_nanf("") : x[i] + y[i] < 0 ? 0 : x[i] + y[i];',
    "crash": "out[i] = *reinterpret_cast<volatile float*>(8 + i);",
    # 3 is among the few numbers of "special" values, and not among others.
    "crash_on_values": "if (x[i] == 3.0f) __builtin_trap(); out[i] = x[i] + y[i] < 0 ? 0 : x[i] + y[i];",
    # Behaves where it is watched: a checked buffer of this size starts 192 bytes into a page.
    "crash_when_timed": "if (((unsigned long)out & 4095) != 192) *reinterpret_cast<volatile float*>(8) = 0;"
                        " out[i] = x[i] + y[i] < 0 ? 0 : x[i] + y[i];",
    "past_the_end": "out[i] = 0; if (i == n - 1) out[n] = 1;",
    "before_the_start": "out[i] = 0; if (i == 0) out[-1] = 1;",
    "far_away": "out[i] = 0;\nif (i == 0)\n  out[n + 100000] = 1;",
    "unwritten": "if (i % 2) out[i] = 0;",
    "changed_input": "const_cast<float*>(x)[i] = 1; out[i] = 0;",
    "does_not_compile": "out[i] = undeclared;",
    "state": "static float kept[64]; kept[i % 64] += x[i]; out[i] = kept[i % 64];",
}
SOURCES = {
    "launch": PASS.replace("x.numel()", "1.5"),
    "shape": PASS.replace("return out", "return out.view(50, 40)"),
}


class OneRun(PassnetCase):
    """Samples of one run, a right one behind those that misbehave."""

    @classmethod
    def setUpClass(cls):
        case = cls.in_directory_of_class()
        samples = [case.add_sample(name, kernel_source=kernel(body)) for name, body in BODIES.items()]
        samples += [case.add_sample(name, source) for name, source in SOURCES.items()]
        cls.found = case.evaluate_samples([*samples, case.sample])

    def assert_ended(self, name, stage, kind):
        """The record's error, which is of that kind."""
        record = self.found[name]
        self.assertEqual((record["stage"], record["error_kind"]), (stage, kind), record["error"])
        return record["error"]

    def test_right_kernel_is_correct_and_timed(self):
        record = self.found["sample"]
        self.assertEqual((record["stage"], record["error"]), ("done", ""))
        self.assertEqual(record["outputs"][0]["passes_from"], -10)
        self.assert_timed(record, 10)  # readings, each the mean of calls that were handed over together
        self.assertTrue(record["deterministic"])

    def test_wrong_result_is_compared_and_not_an_error(self):
        record = self.found["wrong"]
        self.assertEqual((record["stage"], record["error"]), ("done", ""))
        self.assertGreater(record["outputs"][0]["passes_from"], -5)
        self.assertGreater(record["outputs"][0]["max_abs_diff"], 0.1)
        mismatch = record["outputs"][0]["mismatch"]
        self.assertGreater(mismatch["beyond"], 20)  # where the sum is negative
        self.assertLess(mismatch["beyond"], 1900)
        self.assertEqual((mismatch["expected"], mismatch["where"]), ("0", "scattered"))

    def test_counts_nans(self):
        record = self.found["nans"]
        mismatch = record["outputs"][0]["mismatch"]
        self.assertEqual((mismatch["found_nan"], mismatch["expected_nan"], mismatch["beyond"]), (3, 0, 3))
        self.assertEqual(mismatch["where"], "row 0 of 40 (the first), columns 0 to 2 of 50 (the first 3)")

    def test_crash_names_the_kernel(self):
        error = self.assert_ended("crash", "run", "crash")
        self.assertIn("SIGSEGV", error)
        self.assertRegex(error, r"add_relu\.cpp:6:1: error: kernel 'add_relu_kernel' of pass 'add_relu' crashed")
        self.assertRegex(error, r"note: launch 1 of 1 at \S*add_relu\.py:11, grid \(2\): input 0 \(float32\[40, 50\]\), "
                                          r"input 1 .*, output 0 .*, 2000")

    def test_crash_on_the_values_of_a_profile_is_one_of_a_run(self):
        self.assert_ended("crash_on_values", "run", "crash")
        self.assertEqual(self.found["crash_on_values"]["profiles"][-1], "structured")

    def test_crash_in_timed_calls_names_the_kernel(self):
        error = self.assert_ended("crash_when_timed", "time", "crash")
        self.assertIn("kernel 'add_relu_kernel' of pass 'add_relu' crashed: SIGSEGV", error)

    def test_write_past_the_end(self):
        error = self.assert_ended("past_the_end", "run", "out-of-bounds")
        self.assertIn("add_relu_kernel", error)

    def test_write_before_the_start(self):
        self.assert_ended("before_the_start", "run", "out-of-bounds")

    def test_write_far_away(self):
        error = self.assert_ended("far_away", "run", "out-of-bounds")
        self.assertRegex(error, r"add_relu\.cpp:8:1: error: .*touched memory outside of output 0 \(float32\[40, 50\]\)")

    def test_unwritten_output(self):
        error = self.assert_ended("unwritten", "run", "unwritten-output")
        self.assertIn("1000", error)  # elements never written

    def test_changed_input(self):
        error = self.assert_ended("changed_input", "run", "input-changed")
        self.assertIn("add_relu_kernel", error)

    def test_kernel_that_does_not_compile_gives_the_compilers_words(self):
        error = self.assert_ended("does_not_compile", "build", "bad-pass")
        self.assertRegex(error, r"add_relu\.cpp:6:\d+: error: .*undeclared")
        self.assertLess(len(error.splitlines()), 12)

    def test_kernel_with_state_is_refused(self):
        error = self.assert_ended("state", "build", "bad-pass")
        self.assertIn("kept", error)

    def test_launch_that_does_not_fit_the_kernel(self):
        error = self.assert_ended("launch", "build", "bad-pass")
        self.assertIn("int64_t", error)

    def test_wrong_shape_is_not_broadcast(self):
        record = self.found["shape"]
        self.assertEqual(record["outputs"][0]["expected_shape"], [40, 50])
        self.assertEqual(record["outputs"][0]["found_shape"], [50, 40])


class RunsOfTheirOwn(PassnetCase):
    def failure(self, body, *flags):
        self.write_pass(kernel_source=kernel(body))
        return self.only_record(*flags)

    def test_tells_where_a_wrong_result_is_wrong(self):
        self.write_pass(kernel_source=kernel("const float sum = x[i] + y[i]; out[i] = i % 50 >= 42 ? -1 : sum < 0 ? 0 : sum;"))
        done = self.evaluate()
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("320 of 2000 elements are beyond t=-5: columns 42 to 49 of 50 (the last 8)", done.stdout)
        self.assertRegex(done.stdout, r"the first at \[0, 42\]: expected [0-9.]+, found -1\n")
        self.assertNotRegex(done.stdout.split("A/A control")[0], r"\d\.\d\dx")
        self.assertNotRegex(done.stderr, r"wrong \d")

    def test_tells_where_a_large_result_is_wrong(self):
        # Of timed calls some rows are compared; the places are of the whole.
        self.write_sample(["small"], shape="600, 1000")
        record = self.failure("const float sum = x[i] + y[i]; out[i] = i >= 5000 && i % 1000 == 2 ? -1 : sum < 0 ? 0 : sum;")
        mismatch = record["outputs"][0]["mismatch"]
        self.assertEqual((mismatch["beyond"], mismatch["first"]), (595, [5, 2]))

    def test_endless_loop_is_killed(self):
        record = self.failure("for (volatile int again = 1; again;) {} out[i] = 0;", "--timeout", "2")
        self.assertEqual((record["stage"], record["error_kind"]), ("run", "timeout"))
        self.assertIn("gave no answer to 'run' within 2 s; it was killed", record["error"])
        self.assertIn("note: kernel 'add_relu_kernel' of pass 'add_relu' was running\nnote: launch 1 of 1", record["error"])

    def test_crash_leaves_the_next_graph_alone(self):
        self.write_sample(["first", "second"])
        self.write_pass(kernel_source=kernel("out[i] = *reinterpret_cast<volatile float*>(8 + i);"))
        self.assertEqual(self.evaluate().returncode, 1)
        self.assertEqual([record["error_kind"] for record in self.records()], ["crash", "crash"])
        self.write_pass()
        self.assertEqual(self.evaluate().returncode, 0)


if __name__ == "__main__":
    unittest.main()
