"""Kernels that misbehave become records with their reason, and the next graph is evaluated as if nothing had been."""

import unittest

from passnet_case import PASS, PassnetCase, kernel, take_one_processor

take_one_processor()


class BadKernels(PassnetCase):
    def failure(self, body, *flags):
        self.write_pass(kernel_source=kernel(body))
        return self.only_record(*flags)

    def test_right_kernel_is_correct_and_timed(self):
        record = self.only_record()
        self.assertEqual((record["stage"], record["error"]), ("done", ""))
        self.assertEqual(record["outputs"][0]["passes_from"], -10)
        self.assert_timed(record, 10)  # readings, each the mean of calls that were handed over together
        self.assertTrue(record["deterministic"])

    def test_wrong_result_is_compared_and_not_an_error(self):
        record = self.failure("out[i] = x[i] + y[i];")
        self.assertEqual((record["stage"], record["error"]), ("done", ""))
        self.assertGreater(record["outputs"][0]["passes_from"], -5)
        self.assertGreater(record["outputs"][0]["max_abs_diff"], 0.1)
        mismatch = record["outputs"][0]["mismatch"]
        self.assertGreater(mismatch["beyond"], 20)  # where the sum is negative
        self.assertLess(mismatch["beyond"], 1900)
        self.assertEqual((mismatch["expected"], mismatch["where"]), ("0", "scattered"))

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

    def test_counts_nans(self):
        record = self.failure("out[i] = i < 3 ? __builtin_nanf(\"\") : x[i] + y[i] < 0 ? 0 : x[i] + y[i];")
        mismatch = record["outputs"][0]["mismatch"]
        self.assertEqual((mismatch["found_nan"], mismatch["expected_nan"], mismatch["beyond"]), (3, 0, 3))
        self.assertEqual(mismatch["where"], "row 0 of 40 (the first), columns 0 to 2 of 50 (the first 3)")

    def test_crash_names_the_kernel(self):
        record = self.failure("out[i] = *reinterpret_cast<volatile float*>(8 + i);")
        self.assertEqual((record["stage"], record["error_kind"]), ("run", "crash"))
        self.assertIn("SIGSEGV", record["error"])
        self.assertRegex(record["error"], r"add_relu\.cpp:6:1: error: kernel 'add_relu_kernel' of pass 'add_relu' crashed")
        self.assertRegex(record["error"], r"note: launch 1 of 1 at \S*add_relu\.py:11, grid \(2\): input 0 \(float32\[40, 50\]\), "
                                          r"input 1 .*, output 0 .*, 2000")

    def test_crash_on_the_values_of_a_profile_is_one_of_a_run(self):
        # 3 is among the few numbers of "special" values, and not among others.
        record = self.failure("if (x[i] == 3.0f) __builtin_trap(); out[i] = x[i] + y[i] < 0 ? 0 : x[i] + y[i];")
        self.assertEqual((record["stage"], record["error_kind"]), ("run", "crash"), record["error"])
        self.assertEqual(record["profiles"][-1], "structured")

    def test_crash_in_timed_calls_names_the_kernel(self):
        # Behaves where it is watched: a checked buffer of this size starts 192 bytes into a page.
        record = self.failure("if (((unsigned long)out & 4095) != 192) *reinterpret_cast<volatile float*>(8) = 0;"
                              " out[i] = x[i] + y[i] < 0 ? 0 : x[i] + y[i];")
        self.assertEqual((record["stage"], record["error_kind"]), ("time", "crash"), record["error"])
        self.assertIn("kernel 'add_relu_kernel' of pass 'add_relu' crashed: SIGSEGV", record["error"])

    def test_endless_loop_is_killed(self):
        record = self.failure("for (volatile int again = 1; again;) {} out[i] = 0;", "--timeout", "2")
        self.assertEqual((record["stage"], record["error_kind"]), ("run", "timeout"))
        self.assertIn("gave no answer to 'run' within 2 s; it was killed", record["error"])
        self.assertIn("note: kernel 'add_relu_kernel' of pass 'add_relu' was running\nnote: launch 1 of 1", record["error"])

    def test_write_past_the_end(self):
        record = self.failure("out[i] = 0; if (i == n - 1) out[n] = 1;")
        self.assertEqual((record["stage"], record["error_kind"]), ("run", "out-of-bounds"))
        self.assertIn("add_relu_kernel", record["error"])

    def test_write_before_the_start(self):
        record = self.failure("out[i] = 0; if (i == 0) out[-1] = 1;")
        self.assertEqual((record["stage"], record["error_kind"]), ("run", "out-of-bounds"))

    def test_write_far_away(self):
        record = self.failure("out[i] = 0;\nif (i == 0)\n  out[n + 100000] = 1;")
        self.assertEqual((record["stage"], record["error_kind"]), ("run", "out-of-bounds"))
        self.assertRegex(record["error"], r"add_relu\.cpp:8:1: error: .*touched memory outside of output 0 \(float32\[40, 50\]\)")

    def test_unwritten_output(self):
        record = self.failure("if (i % 2) out[i] = 0;")
        self.assertEqual((record["stage"], record["error_kind"]), ("run", "unwritten-output"))
        self.assertIn("1000", record["error"])  # elements never written

    def test_changed_input(self):
        record = self.failure("const_cast<float*>(x)[i] = 1; out[i] = 0;")
        self.assertEqual((record["stage"], record["error_kind"]), ("run", "input-changed"))
        self.assertIn("add_relu_kernel", record["error"])

    def test_kernel_that_does_not_compile_gives_the_compilers_words(self):
        record = self.failure("out[i] = undeclared;")
        self.assertEqual((record["stage"], record["error_kind"]), ("build", "bad-pass"))
        self.assertRegex(record["error"], r"add_relu\.cpp:6:\d+: error: .*undeclared")
        self.assertLess(len(record["error"].splitlines()), 12)

    def test_kernel_with_state_is_refused(self):
        record = self.failure("static float kept[64]; kept[i % 64] += x[i]; out[i] = kept[i % 64];")
        self.assertEqual((record["stage"], record["error_kind"]), ("build", "bad-pass"))
        self.assertIn("kept", record["error"])

    def test_launch_that_does_not_fit_the_kernel(self):
        self.write_pass(source=PASS.replace("x.numel()", "1.5"))
        record = self.only_record()
        self.assertEqual((record["stage"], record["error_kind"]), ("build", "bad-pass"))
        self.assertIn("int64_t", record["error"])

    def test_wrong_shape_is_not_broadcast(self):
        self.write_pass(source=PASS.replace("return out", "return out.view(50, 40)"))
        record = self.only_record()
        self.assertEqual(record["outputs"][0]["expected_shape"], [40, 50])
        self.assertEqual(record["outputs"][0]["found_shape"], [50, 40])

    def test_crash_leaves_the_next_graph_alone(self):
        self.write_sample(["first", "second"])
        self.write_pass(kernel_source=kernel("out[i] = *reinterpret_cast<volatile float*>(8 + i);"))
        self.assertEqual(self.evaluate().returncode, 1)
        self.assertEqual([record["error_kind"] for record in self.records()], ["crash", "crash"])
        self.write_pass()
        self.assertEqual(self.evaluate().returncode, 0)


if __name__ == "__main__":
    unittest.main()
