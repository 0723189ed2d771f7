"""Structure of report.html: well nested, self-contained, complete, and nothing in it that a name or message put there.

Usage: report_page_test.py REPORT_PAGE_BINARY
"""
import json
import re
import subprocess
import sys
import unittest
from html.parser import HTMLParser

VOID = {"meta", "wbr"}


class Page(HTMLParser):
    """Elements with their attributes, in order; fails on the first tag that closes what is not open."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.open, self.elements, self.texts = [], [], {}
        self.feed(text)
        self.close()
        assert not self.open, f"never closed: {self.open}"

    def handle_starttag(self, tag, attributes):
        names = [name for name, _ in attributes]
        assert len(names) == len(set(names)), f"attribute given twice: {tag} {names}"
        self.elements.append((tag, dict(attributes)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))

    def handle_endtag(self, tag):
        assert self.open and self.open[-1] == tag, f"</{tag}> closes {self.open[-1:]}"
        self.open.pop()

    def handle_data(self, data):
        for tag in set(self.open):
            self.texts[tag] = self.texts.get(tag, "") + data

    def count(self, tag):
        return sum(1 for name, _ in self.elements if name == tag)


def printed(what):
    return subprocess.run([BINARY, what], check=True, capture_output=True, text=True, encoding="utf-8").stdout


class ReportPage(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.text = printed("html")
        cls.page = Page(cls.text)
        cls.graphs = json.loads(printed("json"))["graphs"]

    def test_every_graph_has_a_row_with_its_name_and_verdict(self):
        names = [a["data-key"] for tag, a in self.page.elements if tag == "td" and a.get("class") == "name"]
        shown = [graph["graph"].replace("\x1b", "\\x1b") for graph in self.graphs]
        self.assertEqual(names, shown)
        verdicts = [a["data-key"] for tag, a in self.page.elements if tag == "td" and a.get("class", "").startswith("verdict")]
        self.assertEqual(verdicts, [graph["verdict"] for graph in self.graphs])
        for name in shown:
            self.assertIn(name, self.page.texts["table"])

    def test_every_failure_is_explained(self):
        problems = [graph["problem"] for graph in self.graphs if "problem" in graph]
        self.assertGreater(len(problems), 5)
        self.assertEqual(self.page.count("pre"), len(problems))
        for problem in problems:
            self.assertIn(problem.replace("\x1b", "\\x1b"), self.page.texts["pre"])

    def test_nothing_is_loaded_from_elsewhere(self):
        for tag, attributes in self.page.elements:
            self.assertNotIn(tag, {"link", "img", "iframe", "object", "embed", "base", "image", "use"})
            for name in ("src", "href", "xlink:href", "action", "srcset"):
                self.assertNotIn(name, attributes)
        self.assertIsNone(re.search(r"https?:|url\(|@import|\bfetch\(|XMLHttpRequest", self.text))

    def test_names_and_messages_stay_text(self):
        self.assertEqual(self.page.count("script"), 1)
        self.assertNotIn("alert", self.page.texts["script"])
        self.assertIn("<script>alert(2)</script>", self.page.texts["pre"])
        self.assertTrue(self.page.texts["title"].startswith('a <title> & "more": PassNet report'))
        self.assertNotIn("\x1b", self.text)
        self.assertFalse([a for _, a in self.page.elements if any(name.startswith("on") for name in a)])

    def test_the_curve_has_two_lines_and_labelled_axes(self):
        paths = [a["class"] for tag, a in self.page.elements if tag == "path"]
        self.assertEqual(paths, ["s-line", "es-line"])
        for label in ("tolerance t", "score, 1 = eager", "ES(t)", "S(t)", "-10", "4"):
            self.assertIn(label, self.page.texts["svg"])
        es = next(a["d"] for tag, a in self.page.elements if a.get("class") == "es-line")
        self.assertEqual((es.count("L"), es.count("H"), es.count("V")), (10, 4, 4))

    def test_every_timed_graph_has_a_bar_and_boxes(self):
        timed = sum("reference_us" in graph for graph in self.graphs)
        counted = sum(graph["correct"] and graph["verdict"] != "declined" for graph in self.graphs)
        self.assertLess(counted, timed)
        kinds = [a.get("class") for tag, a in self.page.elements if tag == "svg"]
        self.assertEqual((kinds.count("ratio"), kinds.count("boxes"), kinds.count("curve")), (counted, timed, 1))
        self.assertNotIn("nan", "".join(a.get("d", "") + a.get("width", "") + a.get("x", "") for _, a in self.page.elements))


if __name__ == "__main__":
    BINARY = sys.argv.pop(1)
    unittest.main()
