"""`passnet store` and `passnet site` by their commands: what they print, their schemas, and the files they write.

Usage: commands_test.py WRITE_RUNS_BINARY
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
sys.path.insert(0, str(SOURCE / "tests" / "eval"))
from json_schema import problems  # noqa: E402


class Commands(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        directory = tempfile.TemporaryDirectory()
        cls.addClassCleanup(directory.cleanup)
        cls.root = pathlib.Path(directory.name)
        cls.runs = cls.root / "runs"
        subprocess.run([BINARY, cls.runs], check=True)
        cls.store = cls.root / "store.sqlite"
        for run in sorted(cls.runs.iterdir()):
            cls.passnet(cls, "store", "add", run, "--store", cls.store)

    def passnet(self, *arguments, code=0):
        done = subprocess.run([PASSNET, *arguments], capture_output=True, text=True)
        assert done.returncode == code, (arguments, done.returncode, done.stdout, done.stderr)
        return done.stdout if code != 2 and code != 3 else done.stderr

    def json_of(self, *arguments, code=0):
        """What the command prints with --json, held to its schema."""
        words = [arguments[0]] if arguments[0] == "site" else arguments[:2]
        value = json.loads(self.passnet(*arguments, "--json", code=code))
        schema = json.loads((SOURCE / "docs" / "schemas" / f"{'_'.join(words)}.json").read_text())
        self.assertEqual(problems(value, schema), [])
        return value

    def test_runs_are_listed_and_compared(self):
        at = ("--store", self.store)
        runs = {run["name"]: run for run in self.json_of("store", "list", *at)}
        self.assertEqual(runs["author"]["records"], 8)
        records = self.json_of("store", "list", "author", "--sample", "gpt2_gelu", *at)
        self.assertEqual([record["graph"] for record in records], ["b1_float32", "b1_float16"])
        self.assertAlmostEqual(records[0]["limit_us"], 10)
        compared = self.json_of("store", "compare", "author", "a-model-with-a_long-name-v2.5-instruct", *at, code=1)
        self.assertEqual(compared["counts"]["SLOWER"], 8)
        history = self.json_of("store", "history", "gpt2_gelu", "b1_float32", *at)
        self.assertEqual([record["run_name"] for record in history][1:], ["a-model-with-a_long-name-v2.5-instruct", "author"])
        self.assertIn("8/8", self.passnet("store", "list", "--device", "cpu", *at))

    def test_a_store_made_anew_says_the_same(self):
        again = self.root / "again.sqlite"
        for run in sorted(self.runs.iterdir()):
            self.json_of("store", "add", run, "--store", again)
        one, two = (json.loads(self.passnet("store", "list", "--json", "--store", store)) for store in (self.store, again))
        self.assertEqual(one, two)
        self.assertEqual(self.json_of("store", "prune", "author", "--store", again), {"removed": 1})
        self.assertEqual(self.json_of("store", "prune", "--keep", "0", "--store", again), {"removed": 2})

    def test_errors_say_what_to_do(self):
        for arguments, code, words in (
            (("store", "list", "--store", "nowhere"), 3, "error: there is no store at 'nowhere'\nhint: make it: passnet store add RUN --store nowhere"),
            (("store", "history", "none", "--store", self.store), 3, "error: no record of sample 'none' in the store\nhint: 'passnet store list RUN' shows samples"),
            (("store", "prune", "--store", self.store), 2, "error: found nothing to prune by, expected RUN or --keep"),
            (("store", "add", "nowhere", "--store", self.root / "new.sqlite"), 3, "error: 'nowhere' does not exist, expected a run's directory or a records.jsonl"),
            (("site", self.runs / "author", "-o", self.root / "bad", "--selftest", SOURCE / "docs/schemas/eval.json"), 3,
             "error: found no result of 'passnet selftest --json', as "),
        ):
            with self.subTest(arguments=arguments):
                self.assertIn(words, self.passnet(*arguments, code=code))

    def test_a_site_has_a_page_for_each_task_entry_and_pair_and_links_that_lead_somewhere(self):
        site = self.root / "site"
        told = self.json_of("site", self.runs / "author", f"other={self.runs / 'a-model-with-a_long-name-v2.5-instruct'}", "-o", site, "--store", self.store)
        self.assertEqual((told["entries"], told["tasks"], told["records"]), (2, 4, 16))
        pages = sorted(str(page.relative_to(site)) for page in site.rglob("*.html"))
        self.assertEqual(len(pages), told["pages"])
        self.assertIn("compare/author--other.html", pages)
        for page in site.rglob("*.html"):
            text = page.read_text()
            ids = set(re.findall(r' id="([^"]+)"', text))
            self.assertEqual(len(ids), len(re.findall(r' id="', text)), page)
            for link in re.findall(r'(?:href|src)="([^"]+)"', text):
                path, _, name = link.partition("#")
                self.assertTrue((page.parent / path).exists() if path else name in ids, (page, link))
        board = json.loads((site / "data/board.json").read_text())
        self.assertEqual([(entry["entry"], entry["rank"]) for entry in board["entries"]], [("author", 1), ("other", 2)])
        slices = board["entries"][0]["slices"]
        self.assertEqual([(part["kind"], part["dtype"]) for part in slices], [(kind, dtype) for kind in (None, "fusible", "sole_op") for dtype in (None, "float16", "float32")])
        self.assertEqual([part["records"] for part in slices], [8, 4, 4, 6, 3, 3, 2, 1, 1])
        lines = [json.loads(line) for line in (site / "data/graphs.jsonl").read_text().splitlines()]
        self.assertEqual(len(lines), 16)
        limits = {(line["task"], line["kind"]): (line["limit_us"], line["bound"]) for line in lines}
        self.assertEqual(limits, {("gpt2_gelu", "sole_op"): (10, "memory"), ("phi3_swiglu", "fusible"): (20, "arithmetic"),
                                  ("llama_rotary", "fusible"): (None, None), ("resnet_batch_norm_add_relu", "fusible"): (10, "memory")})
        for line in lines:
            records = [json.loads(record) for record in (site / line["records"]).read_text().splitlines()]
            self.assertIn(line["graph"], [record["graph"] for record in records])

    def test_a_directory_of_runs_is_its_entries(self):
        for run in ("author", "a-model-with-a_long-name-v2.5-instruct"):
            target = self.root / "board" / run
            target.parent.mkdir(exist_ok=True)
            subprocess.run(["cp", "-r", self.runs / run, target], check=True)
            (target / "run.jsonl").touch()
        told = self.json_of("site", self.root / "board", "-o", self.root / "of_board")
        self.assertEqual(told["entries"], 2)


if __name__ == "__main__":
    BINARY = sys.argv.pop(1)
    unittest.main(verbosity=2)
