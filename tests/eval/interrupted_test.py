"""Ctrl-C, a second run at once, and going on: finished records stay."""

import pathlib
import signal
import subprocess
import time
import unittest

from passnet_case import BINARY, PassnetCase, descendants, kernel, take_one_processor

take_one_processor()


class Interrupted(PassnetCase):
    def start(self, *flags):
        command = [str(BINARY), "eval", str(self.sample), "--out", str(self.out), *map(str, self.timing), *flags]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, stdin=subprocess.DEVNULL)
        self.addCleanup(process.kill)
        return process

    def wait_for_records(self, count):
        path = self.out / "sample" / "records.jsonl"
        deadline = time.monotonic() + 60
        while not path.exists() or path.read_text().count("\n") < count:
            self.assertLess(time.monotonic(), deadline, "no record was written")
            time.sleep(0.02)

    def test_interrupt_keeps_finished_records_and_resume_goes_on(self):
        self.write_sample(["quick", "slow"])
        # The second graph is another shape, and at that shape the kernel never ends.
        meta = self.sample / "graphs" / "slow" / "weight_meta.py"
        meta.write_text(meta.read_text().replace("40, 50", "40, 51"))
        self.write_pass(kernel_source=kernel("for (volatile int again = n == 2040; again;) {} out[i] = 0;"))
        process = self.start()
        self.wait_for_records(1)
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        stdout, stderr = process.communicate(timeout=20)
        self.assertEqual(process.returncode, 130, stderr)
        self.assertIn("--resume", stderr)
        self.assertEqual([record["graph"] for record in self.records()], ["quick"])

        meta.write_text(meta.read_text().replace("40, 51", "40, 52"))
        quick = self.records()[0]
        self.assertEqual(self.evaluate("--resume").returncode, 1)  # the kernel is wrong
        self.assertEqual([record["graph"] for record in self.records()], ["quick", "slow"])
        self.assertEqual(self.records()[0], quick)

    def test_second_run_into_the_same_directory_is_refused(self):
        self.write_pass(kernel_source=kernel("for (volatile int again = 1; again;) {} out[i] = 0;"))
        first = self.start("--timeout", "30")
        path = self.out / "sample" / "records.jsonl"
        deadline = time.monotonic() + 30
        while not path.exists():
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.02)
        second = self.evaluate()
        self.assertEqual(second.returncode, 4)
        self.assertIn("is being written by another run", second.stderr)
        first.send_signal(signal.SIGINT)
        first.communicate(timeout=20)

    def test_no_worker_survives_a_killed_passnet(self):
        self.write_pass(kernel_source=kernel("for (volatile int again = 1; again;) {} out[i] = 0;"))
        process = self.start("--timeout", "100")
        self.wait_for_kernel(process.pid)
        workers = descendants(process.pid)
        self.assertGreater(len(workers), 2)
        process.kill()
        process.wait()
        deadline = time.monotonic() + 60
        while any(pathlib.Path(f"/proc/{worker}").exists() for worker in workers):
            self.assertLess(time.monotonic(), deadline, "a worker outlived passnet")
            time.sleep(0.05)


if __name__ == "__main__":
    unittest.main()
