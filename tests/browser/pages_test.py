"""The pages that PassNet writes, in headless Chromium: drawings are painted, texts stay in their boxes and can be read, nothing is
asked of the network, and no name or message becomes markup.

Usage: pages_test.py WRITE_PAGES_BINARY
"""
import pathlib
import subprocess
import sys
import tempfile
import unittest

import chromium

PAGES = ("report", "one_trial_a_block", "hostile", "leaderboard", "leaderboard_published", "comparison", "trajectories")
VIEWS = [(width, theme) for width in (360, 1200, 1920) for theme in ("light", "dark")]
PROGRAM = chromium.installed()
LOOK = (pathlib.Path(__file__).parent / "look.js").read_text()


class Pages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        directory = tempfile.TemporaryDirectory()
        cls.addClassCleanup(directory.cleanup)
        cls.directory = pathlib.Path(directory.name)
        subprocess.run([BINARY, cls.directory], check=True)
        browser = chromium.Chromium(PROGRAM)
        cls.addClassCleanup(browser.close)
        cls.seen = {}
        for page in PAGES:
            browser.open(cls.directory / f"{page}.html")
            for width, theme in VIEWS:
                browser.view(width, theme)
                found = browser.run(LOOK)
                cls.seen[page, width, theme] = {**found, "console": browser.console, "requests": browser.requests}

    def each(self, check, *pages):
        """Calls check with what was found in each view of the pages."""
        for (page, width, theme), found in self.seen.items():
            if page in (pages or PAGES):
                with self.subTest(page=page, width=width, theme=theme):
                    check(found)

    def test_texts_stay_in_their_boxes_and_can_be_read(self):
        def check(found):
            self.assertGreater(found["texts"], 5)
            self.assertEqual(found["problems"], [])
        self.each(check)

    def test_themes_differ(self):
        for page in PAGES:
            light, dark = (self.seen[page, 1200, theme]["ground"] for theme in ("light", "dark"))
            self.assertGreater(light, 0.9)
            self.assertLess(dark, 0.1)

    def test_nothing_is_asked_said_or_run(self):
        def check(found):
            self.assertEqual(found["console"], [])
            self.assertEqual([url.startswith(f"file://{self.directory}/") for url in found["requests"]], [True], found["requests"])
            self.assertEqual(found["intruders"], [])
        self.each(check)

    def test_trials_and_speedups_are_painted(self):
        def check(found):
            self.assertGreater(len(found["trials"]), 0)
            for drawn in found["trials"]:
                self.assertGreaterEqual(drawn["segments"], max(drawn["blocks"], 20))
                self.assertGreater(drawn["length"], 300)
                self.assertTrue(drawn["visible"] and drawn["inside"], drawn)
            self.assertGreater(len(found["marks"]), 0)
            for mark in found["marks"]:
                self.assertTrue(mark["shape"] > 0 and mark["interval"] > 0 and mark["inside"], mark)
        self.each(check, "report", "one_trial_a_block")

    def test_model_names_are_broken_at_hyphens_alone(self):
        def check(found):
            self.assertIn("a-model-with-a_long-name-v2.5-instruct", [name["text"] for name in found["names"]])
            for name in (name for name in found["names"] if "<" not in name["text"]):
                for line in name["lines"][:-1]:
                    self.assertRegex(line, "[- ]$", name)
        self.each(check, "leaderboard", "leaderboard_published")


if __name__ == "__main__":
    BINARY = sys.argv.pop(1)
    if PROGRAM is None:
        print(f"Chromium is not installed: {len(PAGES) * len(VIEWS)} views of pages were not looked at")
        sys.exit(77)
    unittest.main()
