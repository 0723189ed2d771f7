"""scripts/long_sentences: finds sentences of more than 35 words; the pages that have none stay without."""

import importlib.machinery
import importlib.util
import os
import pathlib
import subprocess
import tempfile
import unittest

SOURCE = pathlib.Path(os.environ["PASSNET_SOURCE_DIR"])
SCRIPT = SOURCE / "scripts" / "long_sentences"

# Pages without long sentences. A page joins when it has none, and never leaves.
HOLD = sorted(str(page.relative_to(SOURCE)) for page in (
    *SOURCE.glob("*.md"), *SOURCE.glob("docs/*.md"), SOURCE / "samples/README.md", SOURCE / "passbench/README.md",
    *SOURCE.glob("*/*/README.md")))


def load(path):
    loader = importlib.machinery.SourceFileLoader("long_sentences", str(path))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("long_sentences", loader))
    loader.exec_module(module)
    return module


CHECK = load(SCRIPT)


def text_of(count, end="."):
    return " ".join(["Words"] + ["word"] * (count - 1)) + end


def found(text):
    """(line, number of words) of each long sentence."""
    return [(line, len(words)) for line, words in CHECK.long_sentences(text)]


class LongSentences(unittest.TestCase):
    def test_one_word_more_than_35_is_too_long(self):
        self.assertEqual(found(text_of(35)), [])
        self.assertEqual(found(text_of(36)), [(1, 36)])

    def test_a_sentence_ends_at_a_full_stop_a_question_or_an_exclamation(self):
        for end in (".", "?", "!", ".)", '."', ".**"):
            self.assertEqual(found(f"{text_of(20, end)} {text_of(20)}"), [], end)
        for begin in ("`code`", "[page](page.md)", "**Bold**", "(In brackets)", "16"):
            self.assertEqual(found(f"{text_of(20)} {begin} {text_of(19)}"), [], begin)

    def test_figures_names_and_abbreviations_do_not_end_one(self):
        for middle in ("2.5", "model.py", "e.g. This", "i.e. That", "; Then", ": Then"):
            self.assertEqual(len(found(f"{text_of(18, '')} {middle} {text_of(18)}")), 1, middle)

    def test_the_line_is_that_of_its_first_word(self):
        lines = text_of(36).replace(" word word word word", "\nword word word word")
        self.assertEqual(found(f"# Head\n\nShort.\n\n{lines}"), [(5, 36)])
        self.assertEqual(found(f"Short. Another\nshort one. {lines}"), [(2, 36)])
        self.assertEqual(found(f"Code `a\nb` here.\n{lines}"), [(3, 36)])

    def test_a_paragraph_and_an_item_end_one_without_a_full_stop(self):
        half = text_of(20, "")
        for between in ("\n\n", "\n- ", "\n* ", "\n  + ", "\n2. ", "\n# Head\n", "\n| a | b |\n", "\n```sh\nls\n```\n"):
            self.assertEqual(found(half + between + half), [], between)
        self.assertEqual(found(f"{half}\n{half}"), [(1, 40)])
        self.assertEqual(found(f"- {half}\n  {half}"), [(1, 40)])

    def test_code_is_one_word_and_the_target_of_a_link_none(self):
        self.assertEqual(found(text_of(34, "") + " `passnet eval SAMPLE --trials 10`."), [])
        self.assertEqual(found(text_of(35, "") + " `passnet eval SAMPLE`."), [(1, 36)])
        self.assertEqual(found(text_of(34, "") + " [page](docs/page.md#a)."), [])
        self.assertEqual(found(f"[{text_of(20)}](docs/page.md) {text_of(20)}"), [])

    def test_tables_headings_quotes_and_blocks_of_code_are_left_out(self):
        long = text_of(50)
        for text in (f"| {long} |", f"## {long}", f"> {long}", f"![{long}](a.svg)", f"```text\n{long}\n```", f"  ~~~\n{long}\n```\n{long}\n  ~~~"):
            self.assertEqual(found(text), [], text)
        self.assertEqual(found(f"```text\n{long}\n```\n{long}"), [(4, 50)])

    def test_a_star_within_a_line_is_no_item(self):
        self.assertEqual(found(f"**One** is {text_of(34)}"), [(1, 36)])

    def test_the_script_names_each_and_ends_with_1(self):
        with tempfile.TemporaryDirectory() as directory:
            page = pathlib.Path(directory) / "page.md"
            page.write_text(f"Short.\n\n{text_of(40)}\n")
            done = subprocess.run([SCRIPT, page], capture_output=True, text=True)
            self.assertEqual((done.returncode, done.stdout, done.stderr), (1, f"{page}:3: 40 words: Words{' word' * 7} …\n", ""))
            page.write_text("Short.\n")
            done = subprocess.run([SCRIPT, page], capture_output=True, text=True)
            self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))


class Pages(unittest.TestCase):
    def test_pages_that_have_no_long_sentence_stay_so(self):
        for page in HOLD:
            with self.subTest(page=page):
                self.assertEqual([f"{page}:{line}: {len(words)} words: {' '.join(words)}"
                                  for line, words in CHECK.long_sentences((SOURCE / page).read_text())], [])

    def test_sentences_begin_with_a_verb_or_a_noun(self):
        refused = {"Of", "What", "Whether", "Whose", "Where", "That", "As", "Which"}
        for page in HOLD:
            with self.subTest(page=page):
                self.assertEqual([f"{page}:{line}: {' '.join(words[:8])} …" for line, words in CHECK.sentences((SOURCE / page).read_text())
                                  if words and words[0] in refused], [])


if __name__ == "__main__":
    unittest.main()
