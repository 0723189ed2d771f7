"""What clients of `passnet reward` and `passnet mcp --listen` can take: memory, connections, time."""

import gzip
import http.client
import json
import os
import pathlib
import signal
import socket
import subprocess
import sys
import threading
import unittest

SOURCE = pathlib.Path(os.environ["PASSNET_SOURCE_DIR"])
sys.path[:0] = [str(SOURCE / "tests" / "eval")]
from passnet_case import BINARY, PassnetCase

MOST_KB = 300_000
ABSTAIN = json.dumps({"task": "sample", "files": {"sorted_output_pass_rule_names.json": "[]"}})


class HttpLimits(PassnetCase):
    def serve(self, *command):
        process = subprocess.Popen([str(BINARY), *map(str, command), "--listen", "0", "--json"], stdout=subprocess.PIPE, text=True)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        self.process = process
        self.port = int(json.loads(process.stdout.readline())["url"].split(":")[2].split("/")[0])

    def request(self, body, path="/reward", headers=(), method="POST"):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
        try:
            connection.request(method, path, body, {"Content-Type": "application/json", **dict(headers)})
            answer = connection.getresponse()
            return answer.status, answer.read()
        finally:
            connection.close()

    def peak_kb(self):
        lines = pathlib.Path(f"/proc/{self.process.pid}/status").read_text().splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))

    def test_what_is_packed_is_refused_before_it_is_unpacked(self):
        self.serve("mcp", self.sample, "-o", self.out)
        body = gzip.compress(b" " * (64 << 20) + b'{"jsonrpc":"2.0","id":1,"method":"ping"}', 1)
        before = self.peak_kb()
        for encoding in ("gzip", "deflate", "br", "x-gzip"):
            self.assertEqual(self.request(body, "/mcp", {"Content-Encoding": encoding})[0], 415)
        self.assertLess(self.peak_kb(), before + 20_000)

    def test_memory_is_bounded_under_any_request(self):
        self.serve("reward", self.sample)
        for body in (" " * (65 << 20), "[" + "[]," * (5 << 20), "[" + "0," * (7 << 20), '{"":' * (3 << 20),
                     json.dumps({"task": "sample", "text": "x" * (15 << 20)}),
                     json.dumps({"task": "sample", "text": "\u20ac" * (2 << 20)}),
                     json.dumps({"items": [{}] * 5000}), json.dumps({"items": [{"task": "sample", "text": ""}] * 4096})):
            self.assertIn(self.request(body, "/rewards" if body.startswith('{"items"') else "/reward")[0], (200, 400, 413))
        large = json.dumps({"task": "sample", "text": "x" * (10 << 20)})
        threads = [threading.Thread(target=lambda: self.request(large)) for _ in range(16)]
        [thread.start() for thread in threads]
        [thread.join() for thread in threads]
        self.assertLess(self.peak_kb(), MOST_KB)
        self.assertEqual(self.request("", "/healthz", method="GET")[0], 200)

    def test_memory_is_bounded_while_thousands_of_jobs_wait(self):
        self.serve("reward", self.sample)
        item = {"task": "sample", "files": {"p.py": "#" * 8000}}
        for _ in range(2):
            status, body = self.request(json.dumps({"items": [item] * 1000}), "/jobs")
            self.assertEqual(status, 202)
        for job in json.loads(body)["ids"][-200:]:
            self.assertIn(self.request(None, f"/jobs/{job}", method="GET")[0], (200,))
        metrics = self.request(None, "/metrics", method="GET")[1].decode()
        self.assertIn("\npassnet_reward_jobs_added_total 2000\n", metrics)
        self.assertLess(self.peak_kb(), 150_000)

    def test_many_clients_at_once_are_all_answered(self):
        self.serve("reward", self.sample)
        answered, failed = [], []

        def ask():
            for _ in range(5):
                try:
                    answered.append(self.request(ABSTAIN)[0])
                except OSError as problem:
                    failed.append(problem)

        threads = [threading.Thread(target=ask) for _ in range(200)]
        [thread.start() for thread in threads]
        [thread.join() for thread in threads]
        self.assertEqual((failed, answered), ([], [200] * 1000))

    def test_idle_silent_and_slow_clients_keep_nobody_waiting(self):
        self.serve("reward", self.sample)
        others = [socket.create_connection(("127.0.0.1", self.port)) for _ in range(500)]
        for other in others[:16]:
            other.sendall(b"POST /reward HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000\r\n\r\nx")
        for other in others[16:32]:
            other.sendall(b"POST /reward HTT")
        self.assertEqual(self.request("", "/healthz", method="GET")[0], 200)
        self.assertEqual(self.request(ABSTAIN)[0], 200)
        # None of them was closed to make room.
        for other in others[32:]:
            other.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
            self.assertTrue(other.recv(100).startswith(b"HTTP/1.1 200 OK"))
        [other.close() for other in others]

    def test_a_connection_is_used_again_without_delay(self):
        self.serve("reward", self.sample)
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        sockets = set()
        for _ in range(200):
            connection.request("POST", "/reward", ABSTAIN)
            answer = connection.getresponse()
            self.assertEqual((answer.status, json.loads(answer.read())["reward"]), (200, 1))
            sockets.add(connection.sock)
        self.assertEqual(len(sockets), 1)
        connection.close()

    def test_ends_when_it_is_told_beside_open_connections(self):
        self.serve("reward", self.sample)
        with socket.create_connection(("127.0.0.1", self.port)) as other:
            other.sendall(b"POST ")
            self.process.send_signal(signal.SIGINT)
            self.assertEqual(self.process.wait(20), 0)


if __name__ == "__main__":
    unittest.main(verbosity=2)
