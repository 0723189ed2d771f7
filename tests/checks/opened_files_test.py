"""Files are read by src/base/file/file.cpp alone: regular, bounded, through no link below a sample. Every other opening is listed here."""

import os
import pathlib
import re
import unittest

SOURCE = pathlib.Path(os.environ["PASSNET_SOURCE_DIR"])

# A call of open() needs one of the flags, under whatever name it is called.
OPENS = re.compile(
    r"\b[io]?fstream\b|\bf(?:re)?open(?:64)?\(|\bpopen\(|\bcreat\(|\bO_(?:RDONLY|WRONLY|RDWR|PATH)\b|(?<![\w>])::open(?:at)?\("
    r"|\bSYS_open|\bopen_by_handle_at\b|\b(?:fs|filesystem)::copy(?:_file)?\(")
PYTHON_OPENS = re.compile(r"(?<![\w.])open\(|\bos\.open\(|\.open\(\)|\.read_(?:text|bytes)\(|\bfromfile\(|\bcopyfile\(|\bcopytree\(")

# What is no reading of a file that others wrote.
ALLOWED = {
    "apps/command_line/program.cpp": "/dev/null in place of a closed descriptor",
    "apps/passnet_cell/lock.cpp": "/proc/self/maps, in a program that links nothing of ours",
    "src/base/file/file.cpp": "the reader",
    "src/base/memory.cpp": "files of /proc and /sys, which stay open",
    "src/base/file/line_file.cpp": "appends; what is there is read by the reader",
    "src/base/file/temporary_directory.cpp": "a lock on a directory, which is not read",
    "src/cluster/file_pieces.cpp": "writes what a worker has sent",
    "src/cluster/merge.cpp": "a lock, which holds nothing",
    "src/cluster/queue.cpp": "asks for times of files, and reads nothing",
    "src/cluster/work.cpp": "the log of its child",
    "src/dataset/official/rebuild.cpp": "copies what it has just written",
    "src/pass/kernel/tool_files.cpp": "the heads of the compiler's own programs",
    "src/run/machine/lock_directory.cpp": "locks, which hold nothing",
    "src/run/machine/lock_queue.cpp": "locks, which hold nothing",
    "src/run/keep/run_directory.cpp": "a lock, which holds nothing",
    "src/run/measure/thread_times.cpp": "the first 8 KiB of files in /proc, many times a second",
    "src/runtime/tensor/written_pages.cpp": "/proc/self/pagemap",
    "src/sandbox/host_code_filter.cpp": "the rule of the filter for openat",
    "src/sandbox/child.cpp": "/proc of the child itself",
    "src/sandbox/empty_root.cpp": "makes the files that others are mounted on",
    "src/sandbox/isolation.cpp": "a descriptor that reads nothing (O_PATH)",
    "src/sandbox/memory_group.cpp": "the limits of a control group",
    "src/sandbox/process.cpp": "/dev/null",
    "src/sandbox/worker_filter.cpp": "the rule of the filter for openat",
    "src/selftest/mutants.cpp": "copies a sample that is shipped",
    "src/selftest/special_file.cpp": "copies a bundle of the corpus",
}
ALLOWED_PYTHON = {
    "python/passnet/cache.py": "the cache of its user, which is refused where others can write to it",
    "python/passnet/form.py": "/proc/cpuinfo",
    "python/passnet/graph.py": "a graph that `passnet graph check` has read; copies it for its user",
    "python/passnet/inductor.py": "memory of its own, which it fills",
    "python/passnet/judging.py": "copies what its user names, for programs that read it as that of a stranger",
    "python/passnet/programs.py": "what the program that it started wrote",
    "python/passnet/results.py": "records that its user names",
    "python/passnet/tuning.py": "copies what its user vouches for",
    "python/passnet_candidate/__main__.py": "the filter, which passnet wrote",
    "python/passnet_candidate/confine.py": "/proc/self",
    "python/passnet_candidate/triton_cache.py": "writes its own directory",
    "python/passnet_capture/child.py": "the log of its child, /proc/self",
    "python/passnet_capture/serve.py": "what its child wrote",
    "python/passnet_capture/write.py": "what it wrote itself",
    "python/passnet_pytorch/package.py": "itself",
    "python/passnet_triton/__main__.py": "the request and the filter, which passnet wrote",
    "python/recipes/recipe.py": "the file that its user names",
}


def without_comments(text):
    return re.sub(r"//[^\n]*", "", text)


def openings(folders, ending, pattern):
    """{file: [line number]} of what matches; comments of C++ do not count."""
    found = {}
    for folder in folders:
        for path in sorted((SOURCE / folder).rglob(f"*{ending}")):
            lines = path.read_text().splitlines()
            hits = [number for number, line in enumerate(lines, 1) if pattern.search(without_comments(line) if ending != ".py" else line)]
            if hits:
                found[str(path.relative_to(SOURCE))] = hits
    return found


class OpenedFilesTest(unittest.TestCase):
    def check(self, found, allowed):
        for file, lines in sorted(found.items()):
            with self.subTest(file=file):
                self.assertTrue(file in allowed, f"{file}:{lines[0]}: opens a file, expected read_file, read_beneath or SourceFiles (src/base)")
        for file in sorted(set(allowed) - set(found)):
            self.fail(f"{file} opens nothing any more: take it from the list")

    def test_cpp_files_are_opened_by_the_reader(self):
        self.check(openings(("src", "apps", "include"), ".cpp", OPENS) | openings(("src", "apps", "include"), ".h", OPENS), ALLOWED)

    def test_python_files_are_opened_where_it_is_listed(self):
        self.check(openings(("python",), ".py", PYTHON_OPENS), ALLOWED_PYTHON)

    def test_other_ways_are_found(self):
        for line in ("std::ifstream in(path);", "FILE* f = std::fopen(name, \"r\");", "const int fd = ::open(path, O_RDONLY);",
                     "UniqueFd fd(::openat(at, name, 0));", "fs::copy_file(from, to);", "::syscall(SYS_openat2, fd)"):
            self.assertRegex(line, OPENS)
        for line in ("LineFile::open(path, true)", "lines.open(x)", "database->open(path)", "open_file(path)", "read_file(path, FileKind::Lines)"):
            self.assertNotRegex(line, OPENS)
        for line in ("with open(path) as file:", "text = path.read_text()", "fd = os.open(path, 0)"):
            self.assertRegex(line, PYTHON_OPENS)


if __name__ == "__main__":
    unittest.main()
