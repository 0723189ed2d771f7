"""`op_db`: the operators of PyTorch's own tests, with sample inputs of each."""

import sys
import types
import unittest

# PyTorch's module of samples imports this package for a class that no sample uses.
sys.modules.setdefault("expecttest", types.SimpleNamespace(TestCase=unittest.TestCase))
from torch.testing._internal import common_utils  # noqa: E402

# PyTorch's helper reads the whole stack for each operator to find a case of unittest, which takes ten times as long as all else.
common_utils.extract_test_fn = lambda: None
from torch.testing._internal.common_methods_invocations import op_db  # noqa: E402, F401
