"""Kernels that misbehave become records with their reason, and the next graph is evaluated as if nothing had been."""

import unittest

from passnet_case import PASS, PassnetCase, kernel


class BadKernels(PassnetCase):
    def failure(self, body, *flags):
        self.write_pass(kernel_source=kernel(body))
        return self.only_record(*flags)

    def test_right_kernel_is_correct_and_timed(self):
        record = self.only_record()
        self.assertEqual((record["stage"], record["error"]), ("done", ""))
        self.assertEqual(record["outputs"][0]["passes_from"], -10)
        self.assertEqual(len(record["candidate"]["trials_us"]), 12)
        self.assertTrue(record["deterministic"])

    def test_wrong_result_is_compared_and_not_an_error(self):
        record = self.failure("out[i] = x[i] + y[i];")
        self.assertEqual((record["stage"], record["error"]), ("done", ""))
        self.assertGreater(record["outputs"][0]["passes_from"], -5)
        self.assertGreater(record["outputs"][0]["max_abs_diff"], 0.1)

    def test_crash_names_the_kernel(self):
        record = self.failure("out[i] = *reinterpret_cast<volatile float*>(8 + i);")
        self.assertEqual((record["stage"], record["error_kind"]), ("run", "crash"))
        self.assertIn("SIGSEGV", record["error"])
        self.assertIn("add_relu_kernel", record["error"])

    def test_endless_loop_is_killed(self):
        record = self.failure("for (volatile int again = 1; again;) {} out[i] = 0;", "--timeout", "2")
        self.assertEqual((record["stage"], record["error_kind"]), ("run", "timeout"))
        self.assertIn("gave no answer to 'run' within 2 s; it was killed", record["error"])

    def test_write_past_the_end(self):
        record = self.failure("out[i] = 0; if (i == n - 1) out[n] = 1;")
        self.assertEqual((record["stage"], record["error_kind"]), ("run", "out-of-bounds"))
        self.assertIn("add_relu_kernel", record["error"])

    def test_write_before_the_start(self):
        record = self.failure("out[i] = 0; if (i == 0) out[-1] = 1;")
        self.assertEqual((record["stage"], record["error_kind"]), ("run", "out-of-bounds"))

    def test_write_far_away(self):
        record = self.failure("out[i] = 0; if (i == 0) out[n + 100000] = 1;")
        self.assertEqual((record["stage"], record["error_kind"]), ("run", "out-of-bounds"))

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
