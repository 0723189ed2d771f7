"""Random bad paths, files and JSON for every command: see random_inputs.py."""

import unittest

from passnet_case import take_one_processor
from random_inputs import find_problems
from tiers import FULL


take_one_processor()


class RandomInputs(unittest.TestCase):
    def test_no_command_takes_them_for_a_bug_hangs_or_eats_memory(self):
        self.assertEqual(find_problems(seed=58, count=2000 if FULL else 120), [])


if __name__ == "__main__":
    unittest.main()
