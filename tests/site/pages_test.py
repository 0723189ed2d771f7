"""The pages of `passnet site` in headless Chromium: at three widths and in both themes texts stay in their boxes, charts are
painted, nothing is asked of the network, names stay inert; filters, sorting and links work.

Usage: pages_test.py WRITE_RUNS_BINARY
"""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(os.environ["PASSNET_SOURCE_DIR"])
PASSNET = pathlib.Path(os.environ["PASSNET_BINARY_DIR"]) / "bin" / "passnet-site"
BROWSER = SOURCE / "tests" / "browser"
sys.path.insert(0, str(BROWSER))
import chromium  # noqa: E402

PROGRAM = chromium.installed()
LOOK = (BROWSER / "look.js").read_text()
VIEWS = [(width, theme) for width in (360, 1200, 1920) for theme in ("light", "dark")]
MARKUP = '<img src=x onerror="hostile=1">\'&'
PAGES = ("index.html", "tasks.html", "compare.html", "history.html", "attacks.html", "tasks/gpt2_gelu.html", "entries/author.html",
         "compare/author--a-model-with-a_long-name-v2.5-instruct.html", "entries/x*.html", "tasks/residual_layer_norm.html", "tasks/x*.html")


def bundle(name, control, result, verdict):
    return {"bundle": name, "control": control, "rows": [1], "expected": [verdict], "result": result, "what": f"does {MARKUP}", "layers": ["cell"],
            "found": {"verdict": verdict, "reason": "", "seconds": 1}, "ablated": []}


ATTACKS = {"seed": 1, "without": [], "rows": [1], "rows_caught": [1], "attacks": 2, "caught": 1, "caught_otherwise": 0, "controls": 1, "accused": 0,
           "bundles": [bundle("stale_tail", False, "ok", "wrong"), bundle(MARKUP, False, "GOT THROUGH", "correct"), bundle("controls/slow", True, "ok", "correct")]}


class Pages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        directory = tempfile.TemporaryDirectory()
        cls.addClassCleanup(directory.cleanup)
        root = pathlib.Path(directory.name)
        cls.site = root / "site"
        subprocess.run([BINARY, root / "runs"], check=True)
        runs = sorted((root / "runs").iterdir())
        subprocess.run([PASSNET, "store", "add", *runs, "--store", root / "store"], check=True, capture_output=True)
        (root / "attacks.json").write_text(json.dumps(ATTACKS))
        subprocess.run([PASSNET, "site", *runs, "-o", cls.site, "--store", root / "store", "--selftest",
                        f"{MARKUP.replace('=', '')}={root / 'attacks.json'}", "--selftest", root / "attacks.json"], check=True, capture_output=True)
        cls.browser = chromium.Chromium(PROGRAM)
        cls.addClassCleanup(cls.browser.close)

    def open(self, pattern, width=1200, theme="light"):
        (page, *_) = sorted(self.site.glob(pattern))
        self.browser.view(width, theme)
        self.browser.open(page)

    def test_each_page_is_whole_in_each_view(self):
        for pattern in PAGES:
            self.open(pattern)
            for width, theme in VIEWS:
                with self.subTest(page=pattern, width=width, theme=theme):
                    self.browser.view(width, theme)
                    found = self.browser.run(LOOK)
                    self.assertGreater(found["texts"], 5)
                    self.assertEqual(found["problems"], [])
                    self.assertEqual(self.browser.console, [])
                    self.assertEqual([url for url in self.browser.requests if not url.startswith(f"file://{self.site}/")], [])
                    style = re.compile(r'<link rel="stylesheet" href="(\.\./)?style\.css">')
                    self.assertEqual([one for one in found["intruders"] if not style.fullmatch(one)], [])
                    self.assertEqual(found["ground"] > 0.9, theme == "light")
                    for mark in found["marks"]:
                        self.assertTrue(mark["shape"] > 0 and mark["inside"], mark)

    def test_charts_are_painted_and_have_a_spec(self):
        painted = "[...document.querySelectorAll('svg path, svg line, svg circle, svg rect')].filter((one) => one.getBoundingClientRect().width + one.getBoundingClientRect().height > 0).length"
        for pattern, least in (("index.html", 9), ("tasks/gpt2_gelu.html", 40), ("entries/author.html", 40), ("history.html", 6), (PAGES[7], 10)):
            with self.subTest(page=pattern):
                self.open(pattern)
                self.assertGreaterEqual(self.browser.run(painted), least)
                specs = [json.loads(spec) for spec in self.browser.run("[...document.querySelectorAll('pre.vega')].map((one) => one.textContent)")]
                self.assertGreater(len(specs), 0)
                for spec in specs:
                    self.assertTrue(spec["$schema"].endswith("/vega-lite/v5.json"))
                    self.assertGreater(len(spec["data"]["values"]), 0)

    def test_the_leaderboard_filters_and_sorts(self):
        self.open("index.html")
        rows = "[...document.querySelectorAll('tbody tr:not([hidden])')].map((row) => row.id)"
        cell = "document.querySelector('#author').children[{}].textContent"
        choose = "(() => {{ const field = document.forms[0].{}; field.value = {}; field.dispatchEvent(new Event('input', {{bubbles: true}})); }})()"
        everything = self.browser.run(rows)
        self.assertEqual(len(everything), 3)
        self.assertEqual(self.browser.run(cell.format(3)), "8 of 8")
        self.browser.run(choose.format("dtype", "'float16'"))
        self.assertEqual(self.browser.run(cell.format(3)), "3 of 3")  # one of the four holds float32 in another run
        self.browser.run(choose.format("kind", "'sole_op'"))
        self.assertEqual(self.browser.run(cell.format(3)), "1 of 1")
        self.browser.run(choose.format("dtype", "''"))
        self.assertEqual(self.browser.run(cell.format(3)), "2 of 2")
        self.browser.run(choose.format("kind", "'fusible'"))
        self.assertEqual(self.browser.run(cell.format(3)), "6 of 6")
        self.browser.run(choose.format("kind", "''"))
        self.assertEqual(self.browser.run(cell.format(3)), "8 of 8")
        self.browser.run(choose.format("compiler", "'nothing else'"))  # no such option: all
        self.assertEqual(self.browser.run(rows), everything)
        self.browser.run(choose.format("text", "'a-model'"))
        self.assertEqual(self.browser.run(rows), ["a-model-with-a_long-name-v2.5-instruct"])
        self.assertEqual(self.browser.run("document.querySelector('form output').textContent"), "1 of 3 entries")
        self.browser.run(choose.format("text", "''"))
        self.browser.run("[...document.querySelectorAll('th button')].find((one) => one.textContent === 'speedup').click()")
        speeds = [float(text) for text in self.browser.run("[...document.querySelectorAll('tbody tr')].map((row) => row.children[5].dataset.k)") if text]
        self.assertEqual(speeds, sorted(speeds, reverse=True))

    def test_a_share_of_the_limit_says_what_bounds_it(self):
        shown = "[...document.querySelectorAll('tbody tr:not(.graph)')].filter((row) => row.textContent.startsWith('author')).map((row) => row.children[4].textContent)"
        for task, bound in (("gpt2_gelu", r"\d+ %memory"), ("phi3_swiglu", r"\d+ %arithmetic"), ("llama_rotary", "no figure")):
            with self.subTest(task=task):
                self.open(f"tasks/{task}.html")
                found = self.browser.run(shown)
                self.assertEqual(len(found), 2)
                for text in found:
                    self.assertRegex(text, f"^{bound}$")

    def test_two_entries_are_chosen_by_keyboard_and_lead_to_their_page(self):
        self.open("compare.html")
        self.browser.loaded = False
        self.browser.run("(() => { const form = document.getElementById('pair'); form.a.value = 'author'; form.b.value = 'a-model-with-a_long-name-v2.5-instruct';"
                         " form.oninput(); form.querySelector('button').focus(); })()")
        self.browser.call("Input.dispatchKeyEvent", type="keyDown", key="Enter", code="Enter", text="\r", windowsVirtualKeyCode=13)
        while not self.browser.loaded:
            self.browser.receive()
        self.assertIn("slower than", self.browser.run("document.querySelector('main').textContent"))

    def test_labels_are_there_for_readers_of_screens(self):
        unlabelled = """[...document.querySelectorAll('a, button, input, select, [role=img], [role=group]')].filter((one) =>
          !(one.textContent.trim() || one.getAttribute('aria-label') || one.closest('label'))).map((one) => one.outerHTML)"""
        for pattern in PAGES:
            with self.subTest(page=pattern):
                self.open(pattern)
                self.assertEqual(self.browser.run(unlabelled), [])
                self.assertEqual(self.browser.run("document.querySelectorAll('h1').length"), 1)
                self.assertEqual(self.browser.run("[...document.querySelectorAll('table')].filter((one) => !one.tHead).length"), 0)


if __name__ == "__main__":
    BINARY = sys.argv.pop(1)
    if PROGRAM is None:
        print(f"Chromium is not installed: {len(PAGES)} pages were not looked at")
        sys.exit(77)
    unittest.main(verbosity=2)
