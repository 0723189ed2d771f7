"""scripts/count_tests: every kind of result of ctest is counted as what it is."""

import os
import pathlib
import subprocess
import tempfile
import unittest

SCRIPT = pathlib.Path(os.environ["PASSNET_SOURCE_DIR"]) / "scripts" / "count_tests"

# As ctest 3.25 writes them.
PASSED = '<testcase name="a" classname="a" time="0.1" status="run"><system-out>fine</system-out></testcase>'
FAILED = '<testcase name="b" classname="b" time="0.1" status="fail"><failure message="Failed"/><system-out/></testcase>'
SKIPPED_GTEST = (
    '<testcase name="c" classname="c" time="0.1" status="notrun"><skipped message="SKIP_REGULAR_EXPRESSION_MATCHED"/>'
    "<system-out>[ RUN      ] A.B\n/x/a_test.cpp:3: Skipped\nno corpus here\n\n[  SKIPPED ] A.B (0 ms)\n</system-out></testcase>"
)
SKIPPED_CODE = (
    '<testcase name="d" classname="d" time="0.1" status="notrun"><skipped message="SKIP_RETURN_CODE=77"/>'
    "<system-out>no corpus here\n</system-out></testcase>"
)
MISSING_PROGRAM = (
    '<testcase name="e" classname="e" time="0" status="notrun"><skipped message="Unable to find executable: e"/>'
    "<system-out/></testcase>"
)


def count(*cases):
    """Runs the script on a file with these cases: its exit code and its lines."""
    with tempfile.TemporaryDirectory() as directory:
        path = pathlib.Path(directory) / "tests.xml"
        path.write_text(f'<?xml version="1.0"?><testsuite name="s">{"".join(cases)}</testsuite>')
        done = subprocess.run([SCRIPT, path], capture_output=True, text=True)
    return done.returncode, done.stdout.splitlines()


class CountTests(unittest.TestCase):
    def test_counts_passes(self):
        self.assertEqual(count(PASSED, PASSED), (0, ["2 passed, 0 failed, 0 skipped"]))

    def test_a_failure_is_an_exit_code(self):
        self.assertEqual(count(PASSED, FAILED), (1, ["1 passed, 1 failed, 0 skipped"]))

    def test_skips_of_both_kinds_are_counted_with_their_reason(self):
        self.assertEqual(
            count(PASSED, SKIPPED_GTEST, SKIPPED_CODE),
            (0, ["skipped 2: no corpus here", "1 passed, 0 failed, 2 skipped"]),
        )

    def test_a_program_that_is_missing_is_a_failure(self):
        self.assertEqual(count(PASSED, MISSING_PROGRAM), (1, ["1 passed, 1 failed, 0 skipped"]))

    def test_no_tests_are_a_failure(self):
        self.assertEqual(count(), (1, ["0 passed, 0 failed, 0 skipped"]))
        self.assertEqual(count(SKIPPED_CODE)[0], 1)

    def test_no_file_is_a_failure(self):
        done = subprocess.run([SCRIPT, "/nowhere/tests.xml"], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stdout), (1, "0 passed, 0 failed, 0 skipped\n"))


if __name__ == "__main__":
    unittest.main()
