"""scripts/count_tests: counts each kind of result of ctest, and each case of a GoogleTest suite."""

import os
import pathlib
import subprocess
import tempfile
import unittest

SCRIPT = pathlib.Path(os.environ["PASSNET_SOURCE_DIR"]) / "scripts" / "count_tests"

# As ctest 3.25 writes them.
def test(name, status, content, seconds=0.1):
    return f'<testcase name="{name}" classname="{name}" time="{seconds}" status="{status}">{content}</testcase>'


PASSED = test("a", "run", "<system-out>fine</system-out>")
FAILED = test("b", "fail", '<failure message="Failed"/><system-out/>')
SKIPPED = test("d", "notrun", '<skipped message="SKIP_RETURN_CODE=77"/><system-out>no corpus here\n</system-out>')
MISSING_PROGRAM = test("e", "notrun", '<skipped message="Unable to find executable: e"/><system-out/>')
SUITE = test("s", "run", """<system-out>[==========] Running 3 tests from 1 test suite.
[ RUN      ] A.B
/x/a_test.cpp:3: Skipped
no GPU here

[  SKIPPED ] A.B (0 ms)
[ RUN      ] A.C
[       OK ] A.C (1 ms)
[ RUN      ] Each/A.D/0
[       OK ] Each/A.D/0 (2 ms)
[----------] 3 tests from A (3 ms total)
[  SKIPPED ] 1 test, listed below:
[  SKIPPED ] A.B
</system-out>""")
FAILED_SUITE = test("f", "fail", """<failure message="Failed"/><system-out>[ RUN      ] A.B
/x/a_test.cpp:3: Failure
[  FAILED  ] A.B, where GetParam() = 3 (0 ms)
[ RUN      ] A.C
[       OK ] A.C (1 ms)
[  FAILED  ] 1 test, listed below:
[  FAILED  ] A.B, where GetParam() = 3
</system-out>""")
PYTHON_SUITE = test("p", "run", """<system-out>[skipped] PASSNET_FULL=1 runs it
s..
----------------------------------------------------------------------
Ran 3 tests in 0.001s

OK (skipped=1)
</system-out>""")
CRASHED_SUITE = test("g", "fail", """<failure message="SEGFAULT"/><system-out>[ RUN      ] A.B
[       OK ] A.B (1 ms)
[ RUN      ] A.C
</system-out>""")


def run(*cases):
    """Runs the script on a file with these cases: its exit code and its lines."""
    with tempfile.TemporaryDirectory() as directory:
        path = pathlib.Path(directory) / "tests.xml"
        path.write_text(f'<?xml version="1.0"?><testsuite name="s">{"".join(cases)}</testsuite>')
        done = subprocess.run([SCRIPT, path], capture_output=True, text=True)
    return done.returncode, done.stdout.splitlines()


def count(*cases):
    """The exit code and the lines after those on times."""
    code, lines = run(*cases)
    return code, [line for line in lines if not line.startswith(("slowest", " "))]


class CountTests(unittest.TestCase):
    def test_counts_passes(self):
        self.assertEqual(count(PASSED, PASSED), (0, ["2 passed, 0 failed, 0 skipped"]))

    def test_a_failure_is_an_exit_code(self):
        self.assertEqual(count(PASSED, FAILED), (1, ["1 passed, 1 failed, 0 skipped"]))

    def test_skips_are_counted_with_their_reason(self):
        self.assertEqual(
            count(PASSED, SUITE, SKIPPED),
            (0, ["skipped 1: no GPU here", "skipped 1: no corpus here", "3 passed, 0 failed, 2 skipped"]),
        )

    def test_cases_of_a_python_suite_are_counted_one_by_one(self):
        self.assertEqual(count(PYTHON_SUITE), (0, ["skipped 1: PASSNET_FULL=1 runs it", "2 passed, 0 failed, 1 skipped"]))

    def test_a_program_that_is_missing_is_a_failure(self):
        self.assertEqual(count(PASSED, MISSING_PROGRAM), (1, ["1 passed, 1 failed, 0 skipped"]))

    def test_cases_of_a_failed_suite_are_counted_one_by_one(self):
        self.assertEqual(count(FAILED_SUITE), (1, ["1 passed, 1 failed, 0 skipped"]))

    def test_a_suite_that_crashes_is_a_failure_beside_what_passed_before(self):
        self.assertEqual(count(CRASHED_SUITE), (1, ["1 passed, 1 failed, 0 skipped"]))

    def test_slowest_tests_come_first(self):
        slow = test("slow", "run", "<system-out/>", 12.34)
        quick = [test(f"q{i}", "run", "<system-out/>", 0.5) for i in range(30)]
        lines = run(*quick, slow)[1]
        self.assertEqual(lines[:2], ["slowest tests:", "    12.3 s  slow"])
        self.assertEqual(len([line for line in lines if line.startswith(" ")]), 20)
        self.assertEqual(lines[21:], ["31 passed, 0 failed, 0 skipped"])

    def test_no_tests_are_a_failure(self):
        self.assertEqual(count(), (1, ["0 passed, 0 failed, 0 skipped"]))
        self.assertEqual(count(SKIPPED)[0], 1)

    def test_no_file_is_a_failure(self):
        done = subprocess.run([SCRIPT, "/nowhere/tests.xml"], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stdout), (1, "0 passed, 0 failed, 0 skipped\n"))


if __name__ == "__main__":
    unittest.main()
