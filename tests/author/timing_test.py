"""`passnet author` measures: it keeps what is right and faster. The suite runs alone, as it looks at measured times."""

import json
import unittest

from author_case import LIST, AuthorCase


class Timing(AuthorCase):
    def test_keeps_what_is_right_and_faster(self):
        (report,) = self.author(self.sample, "--trials", 10)
        place = self.out / "sample"
        kept = [one["pass"] for one in report["passes"] if one["kept"]]
        self.assertEqual(json.loads((place / "pass_dir" / LIST).read_text()), kept)
        self.assertEqual(sorted(path.stem for path in (place / "pass_dir").glob("*.py")), sorted(kept))
        self.assertGreaterEqual(report["score"], 1)
        self.assertTrue(all(one["why"] for one in report["passes"]))
        self.assertEqual(json.loads((place / "author.json").read_text()), report)
        again = self.passnet("author", self.sample, "-o", self.out, "--resume", "--json")
        self.assertEqual(json.loads(again.stdout), [report])


if __name__ == "__main__":
    unittest.main(verbosity=2)
