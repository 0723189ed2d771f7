"""report.html: well nested, self-contained, complete, in the promised order, and nothing in it that a name or message put there.

Usage: report_page_test.py REPORT_PAGE_BINARY
"""
import json
import re
import subprocess
import sys
import unittest
from html.parser import HTMLParser

VOID = {"meta", "wbr", "input"}


class Element:
    def __init__(self, tag, attributes, parent):
        self.tag, self.attributes, self.parent, self.children, self.own = tag, attributes, parent, [], []

    def all(self, tag=None, css=None):
        """Elements below, in order; css: one of their classes."""
        for child in self.children:
            if (tag is None or child.tag == tag) and (css is None or css in child.attributes.get("class", "").split()):
                yield child
            yield from child.all(tag, css)

    def text(self):
        return "".join(part if isinstance(part, str) else part.text() for part in self.own)


class Page(HTMLParser):
    """The tree of a page; fails on the first tag that closes what is not open."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.root = self.at = Element("", {}, None)
        self.feed(text)
        self.close()
        assert self.at is self.root, f"never closed: {self.at.tag}"

    def handle_starttag(self, tag, attributes):
        names = [name for name, _ in attributes]
        assert len(names) == len(set(names)), f"attribute given twice: {tag} {names}"
        element = Element(tag, {name: value or "" for name, value in attributes}, self.at)
        self.at.children.append(element)
        self.at.own.append(element)
        if tag not in VOID:
            self.at = element

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        if tag not in VOID:
            self.at = self.at.parent

    def handle_endtag(self, tag):
        assert self.at.tag == tag, f"</{tag}> closes {self.at.tag}"
        self.at = self.at.parent

    def handle_data(self, data):
        self.at.own.append(data)


def printed(what):
    return subprocess.run([BINARY, what], check=True, capture_output=True, text=True, encoding="utf-8").stdout


class ReportPage(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.text = printed("html")
        cls.page = Page(cls.text).root
        cls.graphs = json.loads(printed("json"))["graphs"]
        cls.rows = {row.attributes["id"]: row for row in cls.page.all("details", "g")}
        cls.summaries = {name: next(row.all("summary")) for name, row in cls.rows.items()}

    def numbered(self):
        """Graphs with the ids of their rows."""
        return [(f"g{i}", graph) for i, graph in enumerate(self.graphs)]

    def has_speedup(self, graph):
        return graph["correct"] and not graph["disturbed"] and graph["verdict"] != "declined"

    def ratio(self, graph):
        return graph["reference_us"]["median"] / graph["candidate_us"]["median"]

    def test_every_graph_has_a_row_with_its_name_and_verdict(self):
        self.assertEqual(sorted(self.rows), sorted(name for name, _ in self.numbered()))
        for name, graph in self.numbered():
            shown = f"{graph['sample']}/{graph['graph']}".replace("\x1b", "\\x1b")
            cell = next(self.rows[name].all("span", "name"))
            self.assertEqual(cell.text(), shown)
            verdict = next(self.rows[name].all("span", "verdict"))
            self.assertEqual(verdict.attributes["data-k"], graph["verdict"])
            self.assertIn(graph["verdict"], verdict.text())

    def test_failures_come_first_then_speedups_sorted(self):
        groups = [[self.graphs[int(row.attributes["id"][1:])] for row in section.all("details", "g")] for section in self.page.all("section")]
        self.assertEqual(len(groups), 3)
        failed = [any(not graph["correct"] and graph["verdict"] != "inexact" for graph in group) for group in groups]
        self.assertEqual(failed, sorted(failed, reverse=True))
        self.assertIn(False, failed)
        for group in groups:
            classes = [0 if not graph["correct"] and graph["verdict"] != "inexact" else
                       1 if not graph["correct"] else 2 if not self.has_speedup(graph) else 3 for graph in group]
            self.assertEqual(classes, sorted(classes))
            ratios = [self.ratio(graph) for graph in group if self.has_speedup(graph)]
            self.assertEqual(ratios, sorted(ratios, reverse=True))

    def test_the_drawing_of_speedups_is_sorted_and_has_intervals(self):
        (drawing,) = self.page.all("div", "speedups")
        marks = list(drawing.all("a", "mark"))
        shown = [self.graphs[int(mark.attributes["href"].removeprefix("#g"))] for mark in marks]
        self.assertEqual(sorted(self.ratio(graph) for graph in shown),
                         sorted(self.ratio(graph) for graph in self.graphs if self.has_speedup(graph)))
        ratios = [self.ratio(graph) for graph in shown]
        self.assertEqual(ratios, sorted(ratios, reverse=True))
        for mark, graph in zip(marks, shown):
            (line,) = mark.all("line", "error")
            low, high = (float(line.attributes[x].rstrip("%")) for x in ("x1", "x2"))
            self.assertLess(low, high)
            low, high = graph["interval"]
            verdict = "same" if low <= 1 <= high else "faster" if low > 1 else "slower"
            self.assertIn(verdict, mark.attributes["class"].split())
            self.assertIn({"same": "no difference"}.get(verdict, verdict), mark.text())
        self.assertEqual({mark.attributes["class"] for mark in marks}, {"mark faster", "mark same", "mark slower"})

    def test_what_is_wrong_has_no_speed(self):
        wrong = [(name, graph) for name, graph in self.numbered() if not self.has_speedup(graph)]
        self.assertGreater(sum("reference_us" in graph for _, graph in wrong), 3)
        marks = {mark.attributes["href"] for mark in self.page.all("a", "mark")}
        for name, graph in wrong:
            row, summary = self.rows[name], self.summaries[name]
            self.assertEqual([*row.all("svg", "ratio"), *summary.all("span", "ratio"), *summary.all("span", "before")], [])
            self.assertNotRegex(summary.text(), r"\b\d+\.\d\dx")
            self.assertNotIn(f"#{name}", marks)
            self.assertEqual({css for css in ("faster", "slower", "same") if list(row.all(css=css))}, set())
            self.assertNotRegex(row.attributes["data-v"], "faster|slower|no difference")
            if not graph["disturbed"]:
                self.assertEqual(list(row.all("svg")), [])

    def test_what_is_right_has_its_speedup_bar_and_trials(self):
        for name, graph in self.numbered():
            if not self.has_speedup(graph):
                continue
            low, high = graph["interval"]
            self.assertIn("no difference" if low <= 1 <= high else f"{self.ratio(graph):.2f}x", self.summaries[name].text())
            self.assertIn(f"{low:.2f} to {high:.2f}", self.summaries[name].text())
            self.assertEqual([svg.attributes["class"].split()[0] for svg in self.rows[name].all("svg")], ["ratio", "trials"])
        self.assertNotIn("nan", "".join(element.attributes.get("d", "") + element.attributes.get("x1", "") for element in self.page.all()))

    def test_a_bar_that_is_cut_says_so(self):
        cut = {name for name, row in self.rows.items() if any(list(bar.all("path", "cut")) for bar in row.all("svg", "ratio"))}
        beyond = {name for name, graph in self.numbered() if self.has_speedup(graph) and not 1 / 8 <= self.ratio(graph) <= 8}
        self.assertEqual(len(beyond), 1)
        self.assertEqual(cut, beyond)
        (outlier,) = [row for row in self.rows.values() if list(row.all("path", "beyond"))]
        self.assertIn("1 trial beyond it, the longest 4000 us", outlier.text())

    def test_a_disturbed_graph_shows_its_trials_and_no_number(self):
        (name,) = [name for name, graph in self.numbered() if graph["disturbed"]]
        self.assertIn("disturbed", self.summaries[name].text())
        self.assertIn("24 of 30 pairs of blocks dropped", self.rows[name].text())
        self.assertEqual(len(list(self.rows[name].all("svg", "trials"))), 1)

    def test_every_failure_is_explained(self):
        problems = [(name, graph["problem"].replace("\x1b", "\\x1b")) for name, graph in self.numbered() if "problem" in graph]
        self.assertGreater(len(problems), 5)
        for name, problem in problems:
            self.assertEqual([pre.text() for pre in self.rows[name].all("pre", "problem")], [problem])
            self.assertIn(problem.splitlines()[0], self.summaries[name].text())

    def test_a_row_leads_to_its_sources_and_equal_ones_are_there_once(self):
        texts = {f"#{pre.attributes['id']}": pre.text() for pre in self.page.all("pre") if "id" in pre.attributes}
        found = {}
        for name, graph in self.numbered():
            links = [(link.text(), texts[link.attributes["href"]]) for box in self.rows[name].all("p", "links") for link in box.all("a")]
            if links:
                found[graph["graph"]] = dict(links)
        self.assertEqual(set(found), {"b1_float32", "b1_bfloat16"})
        self.assertEqual(set(found["b1_float32"]), {"gelu.py", "gelu.cpp", "graph before", "graph after", "launches"})
        self.assertEqual(found["b1_float32"]["graph before"], "y = torch.nn.functional.gelu(x)\n")
        self.assertNotEqual(found["b1_float32"]["launches"], found["b1_bfloat16"]["launches"])
        self.assertEqual(len(texts), len(set(texts.values())))

    def test_how_it_was_measured_is_told_once(self):
        shared = [facts for facts in self.page.all("dl", "facts") if facts.parent.tag == "body"][-1]
        self.assertIn("Example CPU @ 2.40GHz x 2 threads", shared.text())
        for row in self.rows.values():
            self.assertNotIn("Example CPU", row.text())

    def test_nothing_is_loaded_from_elsewhere(self):
        for element in self.page.all():
            self.assertNotIn(element.tag, {"link", "img", "iframe", "object", "embed", "base", "image", "use"})
            for name in ("src", "xlink:href", "action", "srcset"):
                self.assertNotIn(name, element.attributes)
            self.assertTrue(element.attributes.get("href", "#").startswith("#"))
        self.assertIsNone(re.search(r"https?:|url\(|@import|\bfetch\(|XMLHttpRequest", self.text))

    def test_without_scripts_only_the_filters_are_missing(self):
        hidden = [element for element in self.page.all() if "hidden" in element.attributes]
        self.assertEqual([element.attributes["id"] for element in hidden], ["filters"])
        offered = {option.attributes["value"] for option in self.page.all("option")}
        self.assertTrue({graph["verdict"] for graph in self.graphs} <= offered)
        self.assertTrue({"faster", "no difference", "slower", "disturbed"} <= offered)

    def test_every_link_has_a_target(self):
        targets = {f"#{element.attributes['id']}" for element in self.page.all() if "id" in element.attributes}
        self.assertEqual({element.attributes["href"] for element in self.page.all("a")} - targets, set())

    def test_names_and_messages_stay_text(self):
        scripts = list(self.page.all("script"))
        self.assertEqual(len(scripts), 1)
        self.assertNotIn("alert", scripts[0].text())
        shown = "".join(pre.text() for pre in self.page.all("pre"))
        self.assertIn("<script>alert(2)</script>", shown)
        self.assertIn("<script>alert(3)</script>", shown)
        self.assertTrue(next(self.page.all("title")).text().startswith('a <title> & "more": PassNet report'))
        self.assertNotIn("\x1b", self.text)
        self.assertFalse([element for element in self.page.all() if any(name.startswith("on") for name in element.attributes)])

    def test_the_curve_has_two_lines_and_labelled_axes(self):
        (curve,) = self.page.all("svg", "curve")
        self.assertEqual([path.attributes["class"] for path in curve.all("path")], ["s-line", "es-line"])
        for label in ("tolerance t", "score, 1 = eager", "ES(t)", "S(t)", "-10", "4"):
            self.assertIn(label, curve.text())
        (es,) = curve.all("path", "es-line")
        self.assertEqual([es.attributes["d"].count(step) for step in "LHV"], [10, 4, 4])

    def test_two_thousand_graphs_make_a_page_that_opens(self):
        text = printed("many")
        self.assertLess(len(text.encode()), 10_000_000)
        page = Page(text).root
        self.assertEqual(sum(1 for _ in page.all("details", "g")), 2000)
        self.assertEqual(sum(1 for _ in page.all("svg", "trials")), 1960)
        self.assertIn("in the files beside the records", text)  # what has no room is named


if __name__ == "__main__":
    BINARY = sys.argv.pop(1)
    unittest.main()
