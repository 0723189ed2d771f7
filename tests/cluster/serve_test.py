"""A queue over HTTP by the commands: workers are killed, the server goes away and comes back, each sample is done once."""

import json
import os
import pathlib
import subprocess
import sys
import time
import unittest
import urllib.request

SOURCE = pathlib.Path(os.environ["PASSNET_SOURCE_DIR"])
sys.path.insert(0, str(SOURCE / "tests" / "eval"))
from passnet_case import BINARY, QUICK, PassnetCase, take_one_processor  # noqa: E402

take_one_processor()

NAMES = [f"relu_{i}" for i in range(6)]
TOKEN = "a-token-of-some-length"


class Serve(PassnetCase):
    timing = QUICK

    def setUp(self):
        super().setUp()
        self.list = self.add_list(NAMES)
        self.queue, self.tokens = self.root / "queue", self.root / "tokens"
        self.tokens.write_text(f"# workers\nnode {TOKEN}\n")
        command = " ".join(map(str, ("eval", "--sides", "eager", *QUICK)))
        self.ok("queue", "add", self.queue, self.list, "--command", command, "--lease", 4)
        self.port = 0
        self.server = None

    def ok(self, *arguments):
        done = self.passnet(*arguments)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def start(self, *arguments, **options):
        process = subprocess.Popen([str(BINARY), *map(str, arguments)], text=True, **options)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def serve(self):
        self.server = self.start("serve", self.queue, "--listen", self.port, "--token-file", self.tokens, "--json", stdout=subprocess.PIPE)
        self.addCleanup(self.server.stdout.close)
        told = json.loads(self.server.stdout.readline())
        self.assertEqual((told["queue"], told["records"]), (True, 0))
        self.port = told["url"].rpartition(":")[2]
        return told["url"]

    def status(self, url):
        request = urllib.request.Request(url + "/queue/status", headers={"Authorization": f"Bearer {TOKEN}"})
        return json.load(urllib.request.urlopen(request, timeout=20))

    def wait_for(self, url, reached):
        deadline = time.monotonic() + 120
        while not reached(self.status(url)):
            self.assertLess(time.monotonic(), deadline, self.status(url))
            time.sleep(0.05)

    def test_nothing_is_lost_or_doubled(self):
        url = self.serve()
        killed = self.start("work", url, "--token-file", self.tokens, stderr=subprocess.DEVNULL)
        self.wait_for(url, lambda status: status["claimed"])
        killed.kill()
        killed.wait()
        worker = self.start("work", url, "--token-file", self.tokens, "--json", stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.wait_for(url, lambda status: status["done"] >= 2)
        self.server.kill()
        self.server.wait()
        time.sleep(1)
        self.serve()
        told, said = worker.communicate(timeout=240)
        self.assertEqual(worker.returncode, 0, said)
        status = self.status(url)
        self.assertEqual((status["done"], status["failed"], status["waiting"], status["claimed"]), (len(NAMES), 0, 0, []), said)
        self.assertEqual(json.loads(told)["failed"], 0)
        self.ok("merge", self.queue, "-o", self.out)
        self.assertEqual(sorted(path.parent.name for path in self.out.glob("*/records.jsonl")), NAMES)
        self.assertEqual(self.ok("verify", self.out).count("\nok "), len(NAMES))

    def test_a_worker_needs_the_token(self):
        url = self.serve()
        wrong = self.root / "wrong"
        wrong.write_text("node another-token-of-a-length\n")
        for arguments in ((), ("--token-file", wrong)):
            done = self.passnet("work", url, *arguments)
            self.assertEqual(done.returncode, 4)
            self.assertIn("status 401: 'no known token", done.stderr)
        done = self.passnet("serve", self.queue, self.queue)
        self.assertEqual(done.returncode, 3)
        self.assertIn(f"found two queues, '{self.queue}' and '{self.queue}', expected one", done.stderr)


if __name__ == "__main__":
    unittest.main()
