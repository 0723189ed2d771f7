"""scripts/parts/show_build: what a build shows on a terminal, without one, and when it fails."""

import os
import pathlib
import pty
import subprocess
import tempfile
import unittest

SCRIPT = pathlib.Path(os.environ["PASSNET_SOURCE_DIR"]) / "scripts" / "parts" / "show_build"


def steps(total):
    return ["ninja: Entering directory `build'", "[0/2] Re-checking globbed directories..."] + [
        f"[{step}/{total}] Building CXX object src/base/CMakeFiles/passnet_base.dir/file_{step}.cpp.o"
        for step in range(1, total + 1)]


FAILED = [
    "[1/2] Building CXX object src/a.cpp.o",
    "src/a.cpp:3:1: warning: unused variable",
    "[2/2] Building CXX object src/b.cpp.o",
    "FAILED: src/b.cpp.o",
    "/usr/bin/c++ -Wall -c src/b.cpp",
    "src/b.cpp:7:2: error: expected ';'",
    "ninja: build stopped: subcommand failed.",
]


class ShowBuild(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.TemporaryDirectory(prefix="passnet_show_build_")
        self.addCleanup(self.directory.cleanup)
        self.log = pathlib.Path(self.directory.name) / "build.log"

    def show(self, lines, *name, stderr=subprocess.PIPE):
        return subprocess.run([SCRIPT, self.log, *name], input="".join(line + "\n" for line in lines), stderr=stderr,
                              cwd=self.directory.name, text=True, check=True)

    def show_on_terminal(self, lines):
        ours, theirs = pty.openpty()
        self.show(lines, stderr=theirs)
        os.close(theirs)
        shown = b""
        try:
            while part := os.read(ours, 65536):
                shown += part
        except OSError:  # how Linux says that the other end is closed
            pass
        os.close(ours)
        return shown.decode().replace("\r\n", "\n")

    def test_without_a_terminal_a_line_at_every_tenth(self):
        shown = self.show(steps(200)).stderr.splitlines()
        self.assertEqual(len(shown), 11)
        for tenth, line in enumerate(shown[:10], start=1):
            self.assertRegex(line, rf"^build: {20 * tenth} of 200, \d+:\d\d$")
        self.assertRegex(shown[10], r"^build: 200 steps in \d+:\d\d; log: build.log$")

    def test_a_short_build_is_one_line(self):
        self.assertRegex(self.show(steps(3)).stderr, r"^build: 3 steps in \d+:\d\d; log: build.log\n$")

    def test_a_build_of_several_has_a_name(self):
        self.assertRegex(self.show(steps(3), "build 1 of 2").stderr, r"^build 1 of 2: 3 steps in \d+:\d\d; log: build.log\n$")

    def test_on_a_terminal_one_line_is_rewritten(self):
        shown = self.show_on_terminal(steps(200))
        self.assertEqual(shown.count("\n"), 1)
        self.assertEqual(shown.count("\r\033[K"), 201)
        self.assertRegex(shown, r"\r\033\[Kbuild: 57 of 200, \d+:\d\d, file_57.cpp.o\r")

    def test_what_the_compiler_says_is_shown_and_its_command_is_not(self):
        self.assertRegex(self.show(FAILED).stderr, r"""(?x)^
            src/a\.cpp:3:1:\ warning:\ unused\ variable\n
            build:\ failed:\ src/b\.cpp\.o\n
            src/b\.cpp:7:2:\ error:\ expected\ ';'\n
            build:\ 1\ failed\ after\ \d+:\d\d;\ commands\ and\ all\ messages:\ build\.log\n$""")

    def test_an_interrupted_build_is_not_called_done(self):
        self.assertRegex(self.show(steps(8)[:7] + ["ninja: build stopped: interrupted by user."]).stderr,
                         r"^build: stopped at 5 of 8 after \d+:\d\d; log: build.log\n$")

    def test_the_log_holds_everything(self):
        self.show(FAILED)
        self.assertEqual(self.log.read_text().splitlines(), FAILED)


if __name__ == "__main__":
    unittest.main()
