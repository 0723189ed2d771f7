"""Programs that wait for the machine: who holds it, how long to wait, and what is refused before."""

import contextlib
import fcntl
import os
import pathlib
import re
import subprocess
import time
import unittest

from passnet_case import BINARY, QUICK, PassnetCase, kernel, take_one_processor

take_one_processor()

COMMANDS = ("eval", "author", "agent run", "agent replay", "mcp", "reward", "leaderboard score", "doctor")
MOST_PROCESSORS = 1024


class Waiting(PassnetCase):
    timing = QUICK

    def setUp(self):
        super().setUp()
        # Of this test: no other evaluation is waited for.
        self.locks = self.root / "lock"
        self.locks.mkdir()
        self.environment = {**os.environ, "PASSNET_LOCK_DIR": str(self.locks)}

    @contextlib.contextmanager
    def processors_held(self):
        """By this process, which has no ticket, as no program of ours would."""
        with contextlib.ExitStack() as held:
            for processor in os.sched_getaffinity(0):
                file = held.enter_context((self.locks / f"passnet-processor-{processor}").open("w"))
                fcntl.flock(file, fcntl.LOCK_EX)
            yield

    def test_no_wait_says_who_holds_the_processors(self):
        with self.processors_held():
            done = self.evaluate("--wait", "0", env=self.environment)
        self.assertEqual(done.returncode, 4, done.stderr)
        self.assertRegex(done.stderr, rf"(?m)^error: this machine is busy: first, held by '.*run_suite.*' \(pid {os.getpid()}\)$")
        self.assertIn("hint: without --wait 0 it waits for its turn; --wait SECONDS waits for so long", done.stderr)
        self.assertEqual(self.evaluate("--wait", "0", env=self.environment).returncode, 0)
        self.assertEqual([path.name for path in self.locks.iterdir() if not path.name.startswith("passnet-processor-")], [])

    def test_wait_ends_after_the_seconds_that_were_given(self):
        with self.processors_held():
            begin = time.monotonic()
            done = self.evaluate("--wait", "0.5", env=self.environment)
        self.assertEqual(done.returncode, 4, done.stderr)
        self.assertRegex(done.stderr, r"(?m)^waiting: first, held by .*\nerror: waited 0.5 s for this machine: first, held by ")
        self.assertGreater(time.monotonic() - begin, 0.5)

    def test_a_time_limit_ends_the_wait_of_an_author(self):
        with self.processors_held():
            done = self.passnet("author", self.sample, "-o", self.out, "--time-limit", "0.5", env=self.environment)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("  the budget of 0.5 s ended the search\n", done.stdout)

    def test_an_evaluation_is_named_by_its_command(self):
        self.write_pass(kernel_source=kernel("for (volatile int again = 1; again;) {} out[i] = 0;"))
        first = subprocess.Popen([str(BINARY), "eval", str(self.sample), "--out", str(self.root / "first"), "--timeout", "60"],
                                 env=self.environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(first.wait)
        self.addCleanup(first.kill)
        deadline = time.monotonic() + 30
        while not any(path.name.startswith("passnet-holds-") for path in self.locks.iterdir()):
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.02)
        done = self.evaluate("--wait", "0", env=self.environment)
        self.assertEqual(done.returncode, 4, done.stderr)
        self.assertRegex(done.stderr, rf"busy: first, held by 'passnet eval' \(pid {first.pid}, since \d+ s\)")

    def test_other_network_namespaces_see_the_lock(self):
        unshare = ["unshare", "--user", "--map-root-user", "--net"]
        if subprocess.run([*unshare, "true"], capture_output=True).returncode != 0:
            self.skipTest("no network namespace can be made here")
        with self.processors_held():
            done = subprocess.run([*unshare, str(BINARY), "eval", str(self.sample), "--out", str(self.out), "--wait", "0"],
                                  env=self.environment, capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 4, done.stderr)
        self.assertIn("this machine is busy", done.stderr)

    def test_a_missing_gpu_is_told_before_waiting(self):
        if pathlib.Path("/dev/nvidiactl").exists() or pathlib.Path("/dev/dxg").exists():
            self.skipTest("there is a GPU")
        with self.processors_held():
            done = self.evaluate("--device", "cuda", env=self.environment)
        self.assertEqual(done.returncode, 4, done.stderr)
        self.assertIn("error: no CUDA driver: there is no '/dev/nvidiactl'\n", done.stderr)
        self.assertNotIn("waiting", done.stderr)

    def test_a_directory_of_locks_that_is_missing_is_named(self):
        done = self.evaluate(env={**self.environment, "PASSNET_LOCK_DIR": str(self.root / "none")})
        self.assertEqual(done.returncode, 4, done.stderr)
        self.assertIn(f"cannot open '{self.root / 'none'}'", done.stderr)
        self.assertIn("hint: PASSNET_LOCK_DIR is set to it", done.stderr)

    def test_every_program_that_waits_has_the_options(self):
        for command in COMMANDS:
            with self.subTest(command=command):
                text = subprocess.run([str(BINARY), *command.split(), "--help"], capture_output=True, text=True, timeout=60).stdout
                self.assertRegex(text, r"--wait FLOAT")


if __name__ == "__main__":
    unittest.main(verbosity=2)
