"""Names and paths that a terminal would obey are shown by every command, and there is one way out of them. No worker is needed."""

import json
import os
import pathlib
import re
import unittest

from passnet_case import PassnetCase, take_one_processor
from recorded_run import UNDISTURBED

take_one_processor()

SOURCE = pathlib.Path(os.environ["PASSNET_SOURCE_DIR"])
HOSTILE = "\x1b[2J\x1b]0;t\x07\u202eevil\u2066\u009b31m\nok 1 correct\r\u200b<b>"
UNFIT = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]")


def record(name, error=""):
    side = {"warmup": 1, "trials_us": [10.0] * 20}
    output = {"expected_dtype": "float32", "found_dtype": "float32", "expected_shape": [2], "found_shape": [2], "equal": True,
              "passes_from": -10, "max_abs_diff": 0, "mean_abs_diff": 0, "max_rel_diff": 0}
    return {"version": 1, "passnet": "0", "sample": name, "graph": name, "compiler": name, "device": "cpu", "hardware": name, "threads": 1,
            "seed": 1024, "started": "", "stage": "build" if error else "done", "error_kind": "bad-pass" if error else "", "error": error,
            "passes": [], "outputs_counted": not error, "expected_outputs": 1, "found_outputs": 1, "outputs": [output], "deterministic": True,
            "reference": side, "candidate": side, "disturbed": False, "load": UNDISTURBED, "evaluate_seconds": 1}


class Text(PassnetCase):
    def shown(self, *arguments, code):
        """What the command prints, of which nothing is unfit for a terminal."""
        done = self.passnet(*arguments)
        for text in (done.stdout, done.stderr):
            self.assertIsNone(UNFIT.search(text), f"{arguments}: {text!r}")
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done

    def write_run(self, name, records):
        run = self.root / name
        (run / "s").mkdir(parents=True)
        (run / "s" / "records.jsonl").write_text("".join(json.dumps(one) + "\n" for one in records))
        return run

    def test_records(self):
        a = self.write_run("a", [record(HOSTILE), record("=1+1"), record("@wrong", HOSTILE)])
        b = self.write_run("b", [record(HOSTILE, HOSTILE), record("=1+1"), record("@wrong", HOSTILE)])
        scored = self.shown("score", a, code=0)
        self.assertIn("\\x1b[2J\\x1b]0;t\\x07\\u202eevil\\u2066\\x9b31m ok 1 correct\\x0d\\u200b<b>", scored.stdout)
        self.assertIn("\nunchained: 3 records of an older passnet; nothing shows whether they were changed\n", scored.stdout)
        self.assertEqual(json.loads(self.shown("score", a, "--json", code=0).stdout)["graphs"][0]["graph"], f"{HOSTILE}/{HOSTILE}")
        self.shown("compare", a, b, code=1)
        self.shown("compare", a, b, "--color", "always", "--json", code=1)
        self.shown("verify", a, code=1)
        self.assertEqual(json.loads(self.shown("verify", a, "--json", code=1).stdout)["samples"][0]["result"], "broken")
        self.shown("reproduce", a, code=3)
        self.shown("reproduce", f"{a}#{HOSTILE}x", code=3)

    def test_colors_are_ours_alone(self):
        a, b = self.write_run("a", [record(HOSTILE)]), self.write_run("b", [record(HOSTILE, HOSTILE)])
        done = self.passnet("compare", a, b, "--color", "always")
        self.assertIn("\x1b[31mWRONG", done.stdout)
        self.assertIsNone(UNFIT.search(re.sub("\x1b\\[[0-9;]*m", "", done.stdout)))
        self.assertNotIn("\x1b[2J", done.stdout)

    def test_page_of_two_runs(self):
        a = self.write_run("a", [record(HOSTILE)])
        page = self.root / "page.html"
        self.shown("compare", a, a, "--html", page, code=0)
        self.assertIsNone(UNFIT.search(page.read_text()))
        self.assertNotIn("<b>", page.read_text())

    def test_paths(self):
        strange = self.root / HOSTILE.replace("\n", " ")
        graph = self.sample / "graphs" / "small"
        self.sample.rename(strange)
        for command in ("check", "stats", "hash"):
            self.shown("graph", command, strange / "graphs" / "small", code=0)
            self.shown("graph", command, strange / "absent", code=3)
            self.shown("graph", command, strange, "--json", code=0)
        self.shown("pass", "match", strange, strange, code=0)
        self.shown("eval", strange / "absent", code=3)
        self.shown("score", strange / "absent", code=3)
        self.shown("verify", strange, code=3)
        self.shown("dataset", "index", strange, code=0)
        self.assertFalse(graph.exists())

    def test_words_of_the_command_line(self):
        self.shown(HOSTILE, code=2)
        self.shown("eval", f"--{HOSTILE}", code=2)
        self.shown("eval", "x", "--trials", HOSTILE, code=2)

    def test_bytes_that_are_no_text(self):
        done = self.passnet("graph", "check", os.fsdecode(bytes(self.root) + b"/\xff\x9b31m"))
        self.assertIn("\ufffd\ufffd31m", done.stdout + done.stderr)


class OneWayOut(unittest.TestCase):
    def test_commands_print_through_print_h(self):
        way = re.compile(r"fmt::print|std::c(out|err|log)\b|\bf?puts\(|\bf?printf\(|\bfwrite\(|std::(f?puts|fwrite|f?printf)")
        found = [f"{path.relative_to(SOURCE)}: {line.strip()}"
                 for folder in ("apps", "src") for path in sorted((SOURCE / folder).rglob("*")) if path.suffix in (".h", ".cpp")
                 for line in path.read_text().splitlines() if way.search(line) and not line.lstrip().startswith("//")]
        allowed = ("apps/command_line/print.cpp", "apps/command_line/program.cpp", "apps/passnet_cell/", "apps/passnet_library/example.cpp", "apps/passnet_nvrtc/", "apps/passnet_worker/", "src/report/progress.cpp", "src/sandbox/")
        self.assertEqual([line for line in found if not line.startswith(allowed)], [])


if __name__ == "__main__":
    unittest.main()
