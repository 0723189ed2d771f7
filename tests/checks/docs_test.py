"""What the documents show works: their commands are run, the output they show is what comes out, their links lead somewhere.

Commands stand in fenced blocks: every line of a `sh` block; the lines after `$ ` in a `console` block, where the lines
that follow are the output. Output is compared by its words: figures, signs and blanks differ from run to run, the name of
the processor from machine to machine, and a line with `…` stands for anything. Commands of one document run one after the other in one directory, in which the top of
this checkout is laid out by links. A command of a kind that this file does not know is a failure.

Quick tier: all commands, as they stand; `passnet` is a script that adds few trials to those that measure, and makes datasets of a shape and two samples.
Full tier: the program itself, with as many trials as a user has.
"""

import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(os.environ["PASSNET_SOURCE_DIR"])
sys.path[:0] = [str(SOURCE / "tests"), str(SOURCE / "tests" / "eval")]
from passnet_case import take_one_processor  # noqa: E402
from tiers import FULL  # noqa: E402

take_one_processor()

BINARY = pathlib.Path(os.environ["PASSNET_BINARY_DIR"])
DOCUMENTS = sorted([SOURCE / "README.md", SOURCE / "CONTRIBUTING.md", *(SOURCE / "docs").glob("*.md")])

RUN = {"passnet", "build/bin/passnet", "ls", "cat", "cp", "mkdir", "head", "sed", "diff"}
# These change the machine, need the network, or are what runs this test; that they exist is checked below.
NOT_RUN = {"git", "cd", "sudo", "apt-get", "export", "ctest", "ninja"}

# Stands for `passnet` in the quick tier.
LITTLE_WORK = """\
#!/bin/sh
case "$1 $2" in
  "eval "* | "author "*) exec "{passnet}" "$@" --warmup 3 --trials 10 ;;
  "dataset capture") exec "{passnet}" "$@" --max-shapes 1 ;;
  "dataset build") exec "{passnet}" "$@" --limit 2 ;;
  *) exec "{passnet}" "$@" ;;
esac
"""


def blocks(text, kinds):
    """(kind, lines) of each fenced block of one of the kinds."""
    for kind, body in re.findall(r"^```(\w+)\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
        if kind in kinds:
            yield kind, body.splitlines()


def commands(text):
    """(command, lines of output shown or None) in order of appearance."""
    for kind, lines in blocks(text, ("sh", "console")):
        if kind == "sh":
            joined = "\n".join(lines).replace("\\\n", " ").splitlines()
            yield from ((line.strip(), None) for line in joined if line.strip() and not line.lstrip().startswith("#"))
            continue
        shown = None
        for line in lines + ["$ "]:
            if line.startswith("$ "):
                if shown is not None:
                    yield shown
                shown = (line[2:].strip(), [])
            elif shown is not None:
                shown[1].append(line)


# What the documents show of the machine they were made on: the name of its processor or GPU.
MACHINE = re.compile(r"(?<= on cpu, ).*(?= x \d+ threads)|(?<= on cuda:\d, ).*(?=, torch )")

# A pass that was proven, with its speedup.
KEPT = re.compile(r"\bkept: [0-9]")

# What stands for a ratio and its interval depends on how fast and how busy the machine is.
RATIO = re.compile(r"\bno difference\b|\bdisturbed\b|\(?[0-9][\d.]* to [0-9][\d.]*\)?")


def words(line):
    """The words of a line: runs of letters; a figure's unit and exponent go with the figure."""
    return re.findall(r"[A-Za-z_]{2,}", re.sub(r"[0-9][\w.]*", " ", RATIO.sub(" ", MACHINE.sub("", line))))


class Words(unittest.TestCase):
    def test_a_processor_of_another_name_makes_no_difference(self):
        line = "passes on cpu, {} x {} threads, torch 2.11.0, 25 warm-up and 100 timed calls, seed 1024"
        shown = words(line.format("Intel(R) Xeon(R) Processor", 2))
        for name in ("AMD EPYC 9B45", "unknown processor", "Neoverse-N1 (on cpu, x 4 threads)"):
            self.assertEqual(words(line.format(name, 128)), shown, name)
        self.assertEqual(words("eager on cuda:0, NVIDIA H200, torch 2.11.0"), words("eager on cuda:1, GH200 480GB, torch 2.11.0"))

    def test_a_busy_machine_makes_none_either(self):
        self.assertEqual(words("b1_float32  correct  1.30x  1.2 to 1.4  13.2"), words("b1_float32  correct  disturbed  -  -"))
        self.assertEqual(words("b1_float32  correct  1.02x  0.9 to 1.1  13.2"), words("b1_float32  correct  no difference  0.9 to 1.1  9"))

    def test_another_word_does(self):
        self.assertNotEqual(words("b1_float32 correct 1.30x"), words("b1_float32 wrong 1.30x"))
        self.assertNotEqual(words("passes on cpu, A x 2 threads, torch 2"), words("eager on cpu, A x 2 threads, torch 2"))


# A row that other processes disturbed has no ratio, nor has what is computed from it.
DISTURBED, SPEEDUP = "disturbed", re.compile(r"\b\d+(\.\d+)?x")


class Commands(unittest.TestCase):
    def setUp(self):
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="passnet_docs_"))
        self.addCleanup(shutil.rmtree, self.directory)
        for entry in SOURCE.iterdir():
            if entry.name not in ("build", ".git", "passnet-out"):  # what runs write is no part of the tree
                (self.directory / entry.name).symlink_to(entry)
        (self.directory / "build").mkdir()
        (self.directory / "build" / "bin").symlink_to(BINARY / "bin")
        self.path = f"{BINARY / 'bin'}:{os.environ['PATH']}"
        if not FULL:
            little = self.directory / "build" / "little_work"
            little.mkdir()
            (little / "passnet").write_text(LITTLE_WORK.format(passnet=BINARY / "bin" / "passnet"))
            (little / "passnet").chmod(0o755)
            self.path = f"{little}:{self.path}"

    def run_command(self, command):
        environment = dict(os.environ, PATH=self.path, PASSNET_LOG="info")
        return subprocess.run(["bash", "-c", command], cwd=self.directory, env=environment, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=1800)

    def check_output(self, where, shown, printed):
        found = [words(line) for line in printed.splitlines()]
        for line in shown:
            if DISTURBED in printed and SPEEDUP.search(line):
                continue
            if words(line) and "…" not in line:
                self.assertIn(words(line), found, f"{where} shows a line that is not printed:\n{line}\nprinted was:\n{printed}")

    def check_command(self, where, command, shown):
        program = shlex.split(command, comments=True)[0]
        where = f"{where}: '{command}'"
        if program == "make":
            target = shlex.split(command, comments=True)[1]
            self.assertEqual(subprocess.run(["make", "-n", target], cwd=SOURCE, capture_output=True).returncode, 0,
                             f"{where}: no such target")
            if target != "demo" or BINARY != SOURCE / "build":
                return
            done = subprocess.run(["make", "demo"], cwd=SOURCE, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, text=True, timeout=300)
        elif program == "cmake" or program.startswith("scripts/"):
            return  # see the tests below
        elif program in RUN:
            done = self.run_command(command)
            if command.startswith("passnet author ") and "--write-only" not in command and not KEPT.search(done.stdout):
                done = self.run_command(f"{command} --write-only")  # a busy machine proves nothing: the tutorial says what to do
        else:
            self.assertIn(program, NOT_RUN, f"{where}: not known to this test: run it, or say why not")
            return
        # Two runs of one thing may differ by chance, of which `compare` tells by 1.
        expected = (0, 1) if " compare " in where else (0,)
        self.assertIn(done.returncode, expected, f"{where} ends with exit code {done.returncode}:\n{done.stdout}")
        self.check_output(where, shown or [], done.stdout)

    def check_commands(self, texts):
        """Runs the commands of these texts, by the name of the document. Returns: how many there are."""
        count = 0
        for name, text in texts:
            for command, shown in commands(text):
                with self.subTest(document=name, command=command):
                    self.check_command(name, command, shown)
                count += 1
        return count


README_PASSES, _, README_DATASET = (SOURCE / "README.md").read_text().partition("## A dataset of your own\n")


class ReadmeCommands(Commands):
    def test_commands_run_and_print_what_is_shown(self):
        self.assertGreater(self.check_commands([("README.md", README_PASSES)]), 5)


class DatasetCommands(Commands):
    def test_commands_of_the_readme_make_a_dataset(self):
        self.assertGreater(self.check_commands([("README.md", README_DATASET)]), 4)
        found = self.run_command("passnet dataset find dataset --contains batch_norm").stdout
        paths = [line for line in found.splitlines() if line.startswith("samples/")]
        self.assertTrue(paths, found)
        for path in paths:
            self.assertIn("batch_norm", (self.directory / "dataset" / path / "model.py").read_text())


class ManualCommands(Commands):
    """The pages but for the tutorials, which TutorialCommands has: tests that run side by side."""

    tutorials = False

    def test_commands_run_and_print_what_is_shown(self):
        pages = [page for page in DOCUMENTS if page.name != "README.md" and page.name.startswith("tutorial") == self.tutorials]
        self.assertGreater(self.check_commands((str(page.relative_to(SOURCE)), page.read_text()) for page in pages), 5)


class TutorialCommands(ManualCommands):
    tutorials = True


def prose(document):
    """The text of a page without its fenced blocks."""
    return re.sub(r"^```.*?^```", "", document.read_text(), flags=re.MULTILINE | re.DOTALL)


def sections(document):
    """The names by which links reach the headings of a page, as GitHub forms them."""
    heads = re.findall(r"^#+ (.*)$", prose(document), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", re.sub(r"\]\([^)]*\)", "", head).lower()).replace(" ", "-") for head in heads}


MOST_WORDS = 35_000


# A part of a page that a program writes.
WRITTEN = re.compile(r"<!-- [\w ]+: begin.*?: end -->", re.DOTALL)

# Options of programs other than passnet's commands: workers, split, the recipes of python/recipes.
OTHER_OPTIONS = {"--client", "--data", "--env", "--gpu", "--gpus", "--memory", "--mode", "--network", "--nvidia", "--no-build", "--no-push", "--number", "--numeric-suffixes", "--port", "--reward-url", "--rm", "--role", "--samples", "--security-opt",
                 "--sessions", "--socket", "--suite"}


# Folders of the tree whose README.md is for those who change it, and short (rooms_test.py). src/author has a picture for each of its stages.
ROOMS = sorted(room for room in (*(path for parent in ("src", "apps", "python") for path in (SOURCE / parent).iterdir()),
                                 *(SOURCE / name for name in ("src/pass/plan", "tests", "fuzz", "benchmarks", "scripts", "cmake")))
               if room.is_dir() and room.name not in ("__pycache__", "author"))


def words_by_page():
    """{page: words} of all documents, without the parts that programs write and the README.md of rooms."""
    tops = [top for top in SOURCE.iterdir() if top.is_dir() and top.name not in ("build", ".git", "docs")]
    pages = [*SOURCE.glob("*.md"), *SOURCE.glob("docs/**/*.md"), *(page for top in tops for page in top.glob("**/README.md") if page.parent not in ROOMS)]
    return {str(page.relative_to(SOURCE)): len(WRITTEN.sub("", page.read_text()).split()) for page in pages}


class Documents(unittest.TestCase):
    def test_documents_stay_short(self):
        words = words_by_page()
        longest = sorted(words.items(), key=lambda page: -page[1])[:8]
        self.assertLessEqual(sum(words.values()), MOST_WORDS, f"shorten a page before another grows; the longest are {longest}")

    def test_the_first_screen_of_the_readme_has_both_commands(self):
        screen = (SOURCE / "README.md").read_text().splitlines()[:40]
        self.assertIn("make demo", " ".join(screen))
        self.assertIn("make test", " ".join(screen))

    def test_scripts_and_presets_that_are_named_exist(self):
        presets = (SOURCE / "CMakePresets.json").read_text()
        for document in DOCUMENTS:
            text = document.read_text()
            for script in re.findall(r"(?<![\w/])scripts/\w+", text):
                self.assertTrue(os.access(SOURCE / script, os.X_OK) or (SOURCE / script).is_dir() or
                                list((SOURCE / "scripts").glob(script.split("/")[1] + ".*")), f"{document.name}: {script}")
            for preset in re.findall(r"--preset (\w+)", text):
                self.assertIn(f'"name": "{preset}"', presets, f"{document.name}: --preset {preset}")

    def test_options_that_are_named_exist(self):
        option = re.compile(r"(?<![\w-])--[a-z][\w-]*")
        commands = (SOURCE / "docs/commands.md").read_text()
        known = set(option.findall("".join(WRITTEN.findall(commands)))) | OTHER_OPTIONS | {"--help", "--quiet", "--color", "--preset", "--version"}
        self.assertGreater(len(known), 80)
        for document in DOCUMENTS:
            self.assertEqual(set(option.findall(WRITTEN.sub("", document.read_text()))) - known, set(), document.name)

    def test_links_lead_somewhere(self):
        for document in DOCUMENTS:
            for target, section in re.findall(r"\]\(([^)#\s]*)(#[^)\s]*)?[^)]*\)", re.sub(r"`[^`\n]*`", "", prose(document))):
                if re.match(r"[a-z]+://", target):
                    continue
                page = document.parent / target if target else document
                self.assertTrue(page.exists(), f"{document.name}: link to '{target}'")
                if section and page.suffix == ".md":
                    self.assertIn(section[1:], sections(page), f"{document.name}: '{target}' has no section '{section}'")

    def test_what_the_code_refers_to_stands_in_the_documents(self):
        count = 0
        for tree in ("src", "apps", "include", "fuzz", "tests", "benchmarks"):
            for file in sorted((SOURCE / tree).rglob("*")):
                if file.suffix not in (".h", ".cpp", ".cu", ".cuh"):
                    continue
                comments = re.sub(r"\n\s*//+ *", " ", file.read_text(errors="replace"))
                for name, sections in re.findall(r'docs/([\w-]+\.md)((?:,? (?:and |under )?"[^"]+"|,(?= "))*)', comments):
                    document = SOURCE / "docs" / name
                    self.assertTrue(document.is_file(), f"{file.relative_to(SOURCE)}: docs/{name}")
                    titles = re.findall(r"^#+ (.*)$|\*\*([^*]+)\*\*", document.read_text(), flags=re.MULTILINE)
                    for section in re.findall(r'"([^"]+)"', sections):
                        self.assertIn(section, [part.rstrip(".") for pair in titles for part in pair],
                                      f"{file.relative_to(SOURCE)}: docs/{name} has no section of this name")
                        count += 1
        self.assertGreater(count, 20)


if __name__ == "__main__":
    unittest.main()
