"""`passnet serve` in headless Chromium: an open page shows a record that was added, without an error or an outside request.

Usage: live_test.py WRITE_RUNS_BINARY
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(os.environ["PASSNET_SOURCE_DIR"])
PASSNET = pathlib.Path(os.environ["PASSNET_BINARY_DIR"]) / "bin" / "passnet-site"
sys.path[:0] = [str(SOURCE / "tests" / "browser"), str(SOURCE / "tests" / "eval")]
import chromium  # noqa: E402
from json_schema import problems  # noqa: E402

PROGRAM = chromium.installed()


class Live(unittest.TestCase):
    def test_an_open_page_shows_what_is_added(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        root = pathlib.Path(directory.name)
        subprocess.run([BINARY, root / "runs"], check=True)
        run, added = root / "runs" / "author", root / "phi3_swiglu"
        shutil.move(run / "phi3_swiglu", added)
        server = subprocess.Popen([PASSNET, "serve", run, "--listen", "0", "--json"], stdout=subprocess.PIPE, text=True)
        for step in (server.stdout.close, server.wait, server.kill):  # the last first
            self.addCleanup(step)
        told = json.loads(server.stdout.readline())
        self.assertEqual(problems(told, json.loads((SOURCE / "docs" / "schemas" / "serve.json").read_text())), [])
        self.assertEqual((told["records"], told["queue"]), (6, False))
        self.look(told["url"], lambda: shutil.move(added, run / "phi3_swiglu"))
        server.terminate()
        self.assertEqual(server.wait(), 0)

    def look(self, url, add):
        browser = chromium.Chromium(PROGRAM)
        self.addCleanup(browser.close)
        browser.view(1200, "light")
        browser.open(url + "/tasks.html")
        self.assertNotIn("phi3_swiglu", browser.run("document.querySelector('main').textContent"))
        browser.loaded = False
        add()
        while not browser.loaded:
            browser.receive()
        self.assertIn("phi3_swiglu", browser.run("document.querySelector('main').textContent"))
        self.assertEqual(browser.console, [])
        self.assertEqual([one for one in browser.requests if not one.startswith(url + "/")], [])


if __name__ == "__main__":
    BINARY = sys.argv.pop(1)
    if PROGRAM is None:
        print("Chromium is not installed: no page was looked at")
        sys.exit(77)
    unittest.main(verbosity=2)
