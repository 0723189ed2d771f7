"""Each Python test of the tree is a test of ctest."""

import json
import os
import pathlib
import subprocess
import unittest

SOURCE = pathlib.Path(os.environ["PASSNET_SOURCE_DIR"])


class Registered(unittest.TestCase):
    def test_every_python_test_is_run(self):
        done = subprocess.run(["ctest", "--test-dir", os.environ["PASSNET_BINARY_DIR"], "--show-only=json-v1"], capture_output=True, text=True,
                              check=True)
        run = {word for test in json.loads(done.stdout)["tests"] for word in test.get("command", [])}
        there = {str(path) for path in SOURCE.glob("tests/**/*_test.py")}
        self.assertGreater(len(there), 50)
        self.assertEqual(sorted(there - run), [])


if __name__ == "__main__":
    unittest.main()
