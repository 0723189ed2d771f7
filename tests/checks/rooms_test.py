"""Every room has a short README.md, whose paths are there, and stands in the list of CONTRIBUTING.md."""

import pathlib
import re
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from docs_test import ROOMS, SOURCE  # noqa: E402

# Names of files that programs read and write elsewhere.
WRITTEN = {"model.py", "Name.py", "fuzz_NAME.cpp", "unit.cu", "unit.cubin", "unit.ptx", "request.json"}


class Rooms(unittest.TestCase):
    def test_each_room_has_a_short_readme(self):
        self.assertGreater(len(ROOMS), 30)
        for room in ROOMS:
            with self.subTest(room.name):
                text = (room / "README.md").read_text()
                self.assertLessEqual(len(text.splitlines()), 25)
                self.assertLessEqual(len(text.split()), 150)

    def test_paths_of_a_readme_are_there(self):
        for room in ROOMS:
            for path in re.findall(r"`([\w.-]+/[\w./-]*|[\w.-]+\.(?:h|cpp|py|pyi|txt|md|cmake|cu|cubin|ptx|json))`", (room / "README.md").read_text()):
                with self.subTest(f"{room.name}: {path}"):
                    self.assertTrue(any((place / path).exists() for place in (room, SOURCE)) or path in WRITTEN,
                                    "expected a path from the room or from the top")

    def test_contributing_names_each_room(self):
        contributing = (SOURCE / "CONTRIBUTING.md").read_text()
        for room in ROOMS:
            if room.parent.name != "src":
                continue
            with self.subTest(room.name):
                self.assertIn(f"`{room.relative_to(SOURCE)}`", contributing, "expected a line of the list of part 2")


if __name__ == "__main__":
    unittest.main()
