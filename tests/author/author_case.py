"""Calls of `passnet author` whose report follows its schema: the base of the tests of that command."""

import json
import os
import pathlib
import sys

SOURCE = pathlib.Path(os.environ["PASSNET_SOURCE_DIR"])
sys.path[:0] = [str(SOURCE / "tests" / name) for name in ("eval", "")]
from json_schema import problems  # noqa: E402
from passnet_case import PassnetCase  # noqa: E402

LIST = "sorted_output_pass_rule_names.json"
SCHEMA = json.loads((SOURCE / "docs" / "schemas" / "author.json").read_text())


class AuthorCase(PassnetCase):
    def author(self, *arguments, out=None):
        """The reports, one per sample."""
        done = self.passnet("author", *arguments, "-o", out or self.out, "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        reports = json.loads(done.stdout)
        self.assertEqual(problems(reports, SCHEMA), [])
        return reports
