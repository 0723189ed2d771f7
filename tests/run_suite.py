"""Runs suites and ends: run_suite.py SUITE.py... [ARGUMENT...]. Several run in one process, which imports PyTorch once.

Prints the reason of each case that is skipped, for scripts/count_tests. The interpreter is left at once, without the
destructors of PyTorch's libraries, which take a second of a processor.
"""

import atexit
import itertools
import os
import pathlib
import runpy
import sys
import unittest

add_skip = unittest.TextTestResult.addSkip


def add_skip_and_say_so(self, test, reason):
    add_skip(self, test, reason)
    print(f"[skipped] {reason}", flush=True)


def run(suites):
    tests = os.path.dirname(os.path.abspath(__file__))
    for suite in suites:
        # Its folder, and those above it up to this one, which has tiers.py.
        folders = [folder for folder in map(str, pathlib.Path(suite).resolve().parents) if folder.startswith(tests)]
        sys.path[:0] = [folder for folder in folders if folder not in sys.path]
    if len(suites) == 1:
        runpy.run_path(suites[0], run_name="__main__")
    else:
        unittest.main(None, argv=["", *(os.path.basename(suite).removesuffix(".py") for suite in suites)])


unittest.TextTestResult.addSkip = add_skip_and_say_so
sys.argv = sys.argv[1:]
code = 0
try:
    run(list(itertools.takewhile(lambda argument: argument.endswith(".py"), sys.argv)))
except SystemExit as end:
    code = end.code
    if isinstance(code, str):
        print(code, file=sys.stderr)
atexit._run_exitfuncs()
sys.stdout.flush()
sys.stderr.flush()
os._exit(code if isinstance(code, int) else int(code is not None))
