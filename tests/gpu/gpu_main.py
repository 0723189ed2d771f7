"""How these tests begin: skipped, with a count, where there is no GPU."""

import ctypes
import sys
import unittest


def has_gpu():
    try:
        return ctypes.CDLL("libcuda.so.1").cuInit(0) == 0
    except OSError:
        return False


def main():
    """Runs the tests of the script; exit code 77: they are skipped."""
    if not has_gpu():
        tests = unittest.defaultTestLoader.loadTestsFromModule(sys.modules["__main__"]).countTestCases()
        print(f"{tests} checks skipped: there is no GPU here")
        sys.exit(77)
    unittest.main()
