"""Random bodies and headers for the servers of `passnet reward` and `passnet mcp --listen`: each gets an answer, and the server stays.

Run it by hand with PASSNET_BINARY_DIR=build: random_requests.py [--seed N] [--count N].
"""

import argparse
import http.client
import json
import pathlib
import random
import signal
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))

from passnet_case import BINARY, META, MODEL
from random_inputs import JSON_VALUES, MOST_MIB, MOST_SECONDS, changed, changed_json

LIST = "sorted_output_pass_rule_names.json"
TOOLS = [{"name": "file_editor", "arguments": {"command": "create", "path": "pass_dir/a.py", "file_text": "a\nb\n"}},
         {"name": "file_editor", "arguments": {"command": "str_replace", "path": "pass_dir/a.py", "old_str": "a", "new_str": "b"}},
         {"name": "file_editor", "arguments": {"command": "insert", "path": "pass_dir/a.py", "insert_line": 1, "new_str": "c"}},
         {"name": "file_editor", "arguments": {"command": "view", "path": ".", "view_range": [1, 2]}},
         {"name": "file_editor", "arguments": {"command": "undo_edit", "path": "pass_dir/a.py"}},
         {"name": "pass_match", "arguments": {"task": "sample"}},
         {"name": "graph_info", "arguments": {"graph": "small"}}]
# An empty list of passes is worth 1 without being measured; a text without files is worth 0.1.
BODIES = {
    "/reward": [{"task": "sample", "text": "no files"}, {"task": "sample", "files": {LIST: "[]"}}],
    "/rewards": [{"items": [{"task": "sample", "text": "no files"}, {"task": "sample", "files": {LIST: "[]"}}]}],
    "/jobs": [{"items": [{"task": "sample", "text": "no files"}]}, {"task": "sample", "files": {LIST: "[]"}, "detail": "screen"}],
    "/jobs/0?wait=0": [None],
    "/metrics": [None],
    "/tasks": [None],
    "/healthz": [None],
    "/mcp": [{"jsonrpc": "2.0", "id": 1, "method": "initialize",
              "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}},
             {"jsonrpc": "2.0", "id": 2, "method": "tools/list", "params": {}},
             {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 3}},
             *({"jsonrpc": "2.0", "id": 4, "method": "tools/call", "params": params} for params in TOOLS)],
}
HEADERS = [("Content-Type", "text/plain"), ("Content-Type", ""), ("Origin", "http://elsewhere"), ("Host", "elsewhere"), ("Accept", "x"),
           ("Mcp-Session-Id", "x" * 300), ("Content-Encoding", "gzip"), ("Transfer-Encoding", "chunked"), ("Content-Length", "-1"),
           ("Expect", "100-continue"), ("X", "y" * 9000), ("Range", "bytes=5-1"), ("Connection", "upgrade")]
RIGHT = {"/reward": "POST", "/rewards": "POST", "/jobs": "POST", "/mcp": "POST"}  # others: GET


class Server:
    def __init__(self, root, *command):
        self.said = open(root / f"{command[0]}.log", "w+")
        self.process = subprocess.Popen([BINARY, *command, "--listen", "0", "--json", "--wait", "0"], cwd=root, stdout=subprocess.PIPE,
                                        stderr=self.said, text=True)
        self.port = int(json.loads(self.process.stdout.readline())["url"].split(":")[2].split("/")[0])

    def problem(self):
        """What is wrong with the server now; None: it lives within its memory."""
        if self.process.poll() is not None:
            return f"the server ended with {self.process.returncode}"
        lines = pathlib.Path(f"/proc/{self.process.pid}/status").read_text().splitlines()
        peak = next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1024
        return f"the server took {peak:.0f} MiB" if peak > MOST_MIB else None

    def stop(self):
        """Returns what is wrong with its end."""
        self.process.send_signal(signal.SIGINT)
        try:
            code = self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            code = self.process.wait()
        self.process.stdout.close()
        self.said.close()
        return None if code == 0 else f"the server ended with {code} when it was to"


def random_request(pick, paths):
    """Returns the method, the path, the body and the headers."""
    path = pick.choice(paths)
    value = pick.choice(BODIES[path])
    for _ in range(pick.choice([0, 1, 1, 2])):
        value = changed_json(pick, value)
    body = b"" if value is None else json.dumps(value).encode()
    chance = pick.random()
    if chance < 0.3:
        body = changed(pick, body)
    elif chance < 0.35:
        body = json.dumps(pick.choice(JSON_VALUES)).encode() * pick.choice([1, 1000])
    method = RIGHT.get(path, "GET") if pick.random() < 0.9 else pick.choice(["GET", "POST", "DELETE", "PUT", "HEAD", "OPTIONS", "X"])
    where = path if pick.random() < 0.95 else pick.choice([path + "/", path + "?x=%00", "/..", "/%", "*", "/" + "x" * 9000])
    headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
    headers.update(pick.sample(HEADERS, pick.choice([0, 0, 0, 1, 2])))
    return method, where, body, headers


def ask(port, method, path, body, headers):
    """Returns what is wrong with the answer."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=MOST_SECONDS)
    try:
        connection.request(method, path, body, headers)
        answer = connection.getresponse()
        answer.read()
    except TimeoutError:
        # A server waits for what such headers promise.
        return None if {"Content-Length", "Transfer-Encoding"} & headers.keys() else f"no answer in {MOST_SECONDS} s"
    except (http.client.HTTPException, ConnectionError):
        return None  # it may close a connection that speaks no HTTP; the next check tells whether it lives
    finally:
        connection.close()
    return f"status {answer.status}" if answer.status >= 500 and answer.status not in (501, 503, 505) else None


def find_problems(seed, count, progress=None):
    pick = random.Random(seed)
    found = []
    with tempfile.TemporaryDirectory(prefix="passnet-requests-") as scratch:
        root = pathlib.Path(scratch)
        graph = root / "sample" / "graphs" / "small"
        graph.mkdir(parents=True)
        (graph / "model.py").write_text(MODEL)
        (graph / "weight_meta.py").write_text("\n".join(META.format(name=name, shape="40, 50") for name in ("in_0", "in_1")))
        servers = [(Server(root, "reward", "sample"), [path for path in BODIES if path != "/mcp"]),
                   (Server(root, "mcp", "sample", "-o", "out"), ["/mcp"])]
        for number in range(count):
            server, paths = servers[number % 2]
            request = random_request(pick, paths)
            for problem in (ask(server.port, *request), server.problem()):
                if problem:
                    found.append(f"request {number} of seed {seed}: {request}: {problem}"[:2000])
                    if progress:
                        progress(found[-1])
            if server.process.poll() is not None:
                break
        found.extend(problem for server, _ in servers if (problem := server.stop()))
    return found


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--seed", type=int, default=random.randrange(1 << 32))
    arguments.add_argument("--count", type=int, default=5000)
    given = arguments.parse_args()
    found = find_problems(given.seed, given.count, lambda text: print(text, flush=True))
    print(f"seed {given.seed}: {given.count} requests, {len(found)} problems")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
