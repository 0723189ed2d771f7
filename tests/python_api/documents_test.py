"""The Python of the documents runs as it stands, page by page."""

import contextlib
import os
import re
import sys
import unittest
from unittest import mock

import package

PAGES = ["docs/faster-model.md", "docs/python.md", "docs/bundles.md"]


class Documents(unittest.TestCase):
    def test_examples_run(self):
        home = package.new_directory(self)
        with mock.patch.dict(os.environ, {"PASSNET_HOME": str(home)}), contextlib.chdir(home):
            for page in PAGES:
                with self.subTest(page=page):
                    code = "".join(re.findall(r"^```python\n(.*?)^```", (package.SOURCE / page).read_text(), re.MULTILINE | re.DOTALL))
                    self.assertIn("passnet", code)
                    exec(compile(code, page, "exec"), {})


if __name__ == "__main__":
    if not package.FULL:
        print("1 check skipped: the examples measure; PASSNET_FULL=1 runs them")
        sys.exit(77)
    unittest.main(verbosity=2)
