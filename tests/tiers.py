"""The two tiers of the tests: the quick one of each push, and the full one, which PASSNET_FULL=1 asks for.

The quick tier takes a part of a suite's cases by a rule that the suite states: mostly one case of each kind, in turn. The
full tier takes all cases.
"""

import os
import unittest

FULL = os.environ.get("PASSNET_FULL") == "1"
# Marks a test, or a class of tests, of the full tier: what it checks, the quick tier checks on a smaller case.
full_tier = unittest.skipUnless(FULL, "PASSNET_FULL=1 runs it")


def in_turn(cases, turn):
    """All cases in the full tier; in the quick tier the one whose turn it is, as a list."""
    return list(cases) if FULL else [cases[turn % len(cases)]]


def each_nth(cases, n, turn=0):
    """All cases in the full tier; in the quick tier each n-th, beginning with the one whose turn it is."""
    return list(cases) if FULL else list(cases)[turn % n :: n]
