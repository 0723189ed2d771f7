"""Limits of host code that runs in Python with --host-code fallback. Skipped where Python has no PyTorch.

Each sample has a fresh process that imports PyTorch. So all are evaluated in two runs at once, and tests read their records.
Full tier: further ends of what is a fault of the pass, and what tests/adversarial/host_code.txt has too: files that are out of
reach, and a compiler.
"""

import concurrent.futures
import json
import subprocess
import unittest

from host_code_test import HostCase, host
from passnet_case import PASS
from recorded_run import load_records
from tiers import FULL


# A root of its own has no such file; without user namespaces it may not be opened.
HAS_ROOT = subprocess.run(["unshare", "-U", "-m", "true"], check=False, stderr=subprocess.DEVNULL).returncode == 0
ABSENT, DENIED = ("No such file or directory", "Read-only file system") if HAS_ROOT else ("Permission denied", "Permission denied")

STARTS_A_COMPILER = """\
import ctypes, os, subprocess, tempfile
    with tempfile.TemporaryDirectory() as place:
        open(place + "/one.c", "w").write("int one(void) { return 1; }")
        subprocess.check_output(["gcc", "-shared", "-fPIC", place + "/one.c", "-o", place + "/one.so"])
        assert ctypes.CDLL(place + "/one.so").one() == 1"""


# Calls each of ATTEMPTS, which has to be refused with an error that holds the text beside it.
REFUSED = """
def tried(call):
    try:
        return repr(call())
    except OSError as problem:
        return problem.strerror

def check():
    through = [told for told, call in ATTEMPTS if told not in tried(call)]
    assert not through, through
"""

# The files of the test lie outside of the sample. What follows leads to them, to the machine, or to memory that is not counted.
REACHES = """\
import ctypes, mmap, os, resource, socket
from multiprocessing import shared_memory
HERE = os.path.dirname(__file__)
ATTEMPTS = (
    ("{denied}", lambda: open("/usr/lib/written", "w")),
    ("{absent}", lambda: open("{root}/kept").read()),
    ("{absent}", lambda: open(HERE + "/../../../../../..{root}/kept").read()),
    ("{absent}", lambda: open("/proc/self/root{root}/kept").read()),
    ("{absent}", lambda: open("{root}/home/kernel.key").read()),
    ("{absent}", lambda: open("{root}/written", "w")),
    ("{absent}", lambda: os.listdir("/var")),
    ("{denied}", lambda: open(__file__, "w")),
    ("Operation not permitted", lambda: os.open(__file__, os.O_RDONLY | os.O_TRUNC)),
    ("Operation not permitted", lambda: os.chmod(__file__, 0)),
    ("Operation not permitted", lambda: socket.socket()),
    ("Operation not permitted", lambda: os.kill(os.getppid(), 9)),
    ("Operation not permitted", lambda: os.memfd_create("x")),
    ("Operation not permitted", lambda: mmap.mmap(-1, 2 << 30, mmap.MAP_SHARED)),
    ("{absent}", lambda: shared_memory.SharedMemory(create=True, size=4096)),
    ("", lambda: os.path.exists("/etc/passwd")),
    ("True", lambda: {{"HOME", "TMPDIR"}} <= set(os.environ) and "PASSNET_HOME" not in open("/proc/self/environ").read()),
    ("True", lambda: resource.getrlimit(resource.RLIMIT_NOFILE)[1] <= 4096),
    ("True", lambda: [name for name in os.listdir("/proc") if name.isdigit()] == [str(os.getpid())]),
)""" + REFUSED.replace("{", "{{").replace("}", "}}")


class Limits(HostCase):
    """Samples of two runs with --host-code fallback."""

    @classmethod
    def setUpClass(cls):
        cls.case = case = cls.in_directory_of_class(HostCase)
        cls.kept = case.root / "kept"
        cls.kept.write_text("kept")
        (case.root / "home").mkdir(exist_ok=True)
        (case.root / "home" / "kernel.key").write_text("CANARY")
        reaches = REACHES.format(root=case.root, absent=ABSENT, denied=DENIED)
        cls.cases = {
            "exits": (host("import os; os._exit(7)"), "crash", "exit code 7"),
            "hoards": (host("kept = [torch.empty(1 << 30) for _ in range(1000)]"), "memory", "more than its limit of"),
            "fills": (host("import os; os.posix_fallocate(os.open('f', os.O_CREAT | os.O_RDWR), 0, 1 << 50)"), "memory", "GiB of memory"),
            "tells": (host("raise KeyError('first\\x1b[31m ' + 'x' * 100000)"), "bad-pass", "KeyError: 'first"),
            "changes": (host("x.add_(1.0)"), "", ""),
            # It prints more than a pipe holds, too.
            "remembers": (host("print('x' * 1000000); return KEPT.setdefault(0, torch.clamp(x + y, min=0))", "KEPT = {}"), "", ""),
            "lies": (host(top="import time\ntime.perf_counter_ns = lambda: 0"), "clock", "clocks"),
        }
        if FULL:
            cls.cases |= {
                "reaches": (host("check()", reaches), "", ""),
                "compiles": (host(STARTS_A_COMPILER), "", ""),
                "absent": (host(top="import no_such_library"), "bad-pass", "No module named 'no_such_library'"),
                "asks_to_exit": (host("import sys; sys.exit(3)"), "bad-pass", "SystemExit"),
                "honest": (host(), "", ""),
            }
        samples = [case.add_sample(name, source) for name, (source, _, _) in cls.cases.items()]
        samples.append(case.add_sample("readable"))
        case.write_sample(["small", "wide"])
        meta = case.sample / "graphs" / "wide" / "weight_meta.py"
        meta.write_text(meta.read_text().replace("[40, 50]", "[10, 200]"))
        case.write_pass(source=PASS.replace("    out = ", "    if x.shape[0] == 40:\n        return (x + y) * (x + y > 0)\n    out = "))
        samples.append(case.sample)
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            cls.runs = list(pool.map(cls.run_of, (samples[::2], samples[1::2])))
        cls.found = {sample.name: load_records(run.out / sample.name / "records.jsonl") for run in cls.runs for sample in run.samples}

    @classmethod
    def run_of(cls, samples):
        """A case with the run of these samples; returns it."""
        run = cls.in_directory_of_class(HostCase)
        run.samples = samples
        run.done = run.evaluate_list(samples, "--host-code", "fallback", "--json")
        return run

    def test_what_host_code_may_not(self):
        self.assertEqual([run.done.returncode for run in self.runs], [1, 1])
        graphs = {graph["sample"]: graph for run in self.runs for graph in json.loads(run.done.stdout)["graphs"]}
        for name, (_, kind, text) in self.cases.items():
            with self.subTest(case=name):
                (record,) = self.found[name]
                if name == "lies" and record.get("disturbed"):
                    continue  # such times count nowhere, and no clock is read for them
                self.assertEqual((record["host_code"], record["error_kind"]), ("python", kind), record["error"])
                self.assertIn(text, record["error"])
                self.assertLess(len(record["error"]), 1000)
                right = name in ("reaches", "compiles", "honest")
                self.assertEqual((graphs[name]["correct"], graphs[name]["verdict"] == "unranked"), (right, right))
        self.assertEqual(sorted(path.name for path in self.kept.parent.iterdir() if path.name in ("kept", "written")), ["kept"])
        self.assertEqual((self.kept.read_text(), self.kept.stat().st_mode & 0o777 != 0), ("kept", True))
        told = self.found["tells"][0]["error"]
        self.assertNotIn("\x1b", told)
        self.assertLess(told.count("x"), 400)

    def test_what_hangs_is_ended_and_a_fork_spoils_no_other_sample(self):
        # Each process of the sample that forks does so four times: there are sixteen at most, so that other tests are not slowed down.
        forks = host("import os; len(FORKED) < 4 and FORKED.append(os.fork())", "FORKED = []")
        samples = [self.add_sample("hangs", host("import time; time.sleep(1000)")), self.add_sample("forks", forks), self.add_sample("after_a_fork", host())]
        records = self.evaluate_samples(samples, "--host-code", "fallback", "--timeout", 6)
        hung = records["hangs"]
        self.assertEqual((hung["host_code"], hung["error_kind"]), ("python", "timeout"), hung["error"])
        self.assertIn("add_relu.py:12:", hung["error"])
        self.assertEqual(records["after_a_fork"]["error"], "")

    def test_what_can_be_read_is_read(self):
        (record,) = self.found["readable"]
        self.assertNotIn("host_code", record)
        self.assertEqual(record["stage"], "done")

    def test_each_graph_of_a_sample_for_itself(self):
        records = self.found["sample"]
        self.assertEqual([record.get("host_code") for record in records], ["python", None])
        self.assertEqual([record["error"] for record in records], ["", ""])


if __name__ == "__main__":
    unittest.main()
