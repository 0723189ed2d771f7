"""Commands killed at a random moment and resumed: see kill_moments.py."""

import unittest

from kill_moments import find_problems
from passnet_case import take_one_processor
from tiers import FULL


take_one_processor()


class KillMoments(unittest.TestCase):
    def test_nothing_is_lost_doubled_or_left(self):
        names = ["eval", "decompose", "samples", "agent"] if FULL else ["eval"]
        self.assertEqual(find_problems(names, 5 if FULL else 1, seed=58, progress=lambda text: None), [])


if __name__ == "__main__":
    unittest.main()
