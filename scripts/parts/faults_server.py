#!/usr/bin/env python3
"""The other side of a fault that needs two: `scripts/faults` runs it in the fault's directory.

    faults_server.py agent SCENARIO… [-- OPTION…]   an attempt at each scenario of ../server.py: its messages, and how it ended
    faults_server.py reward BODY…                   what `passnet reward` answers: a line with status and body for each
"""
import json
import os
import pathlib
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request

SAMPLE = pathlib.Path(__file__).resolve().parents[2] / "samples" / "gpt2_gelu"


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def wait_for(port):
    for _ in range(200):
        try:
            return socket.create_connection(("127.0.0.1", port)).close()
        except OSError:
            time.sleep(0.05)
    raise SystemExit("the server did not come up")


def attempt(scenario, port, options):
    subprocess.run(["passnet", "agent", "run", SAMPLE, "--model", "m", "--base-url", f"http://127.0.0.1:{port}/{scenario}", "--tries", "2",
                    "--first-wait", "0.05", "--max-steps", "6", "-o", f"out_{scenario}", *options],
                   env={**os.environ, "OPENAI_API_KEY": "x", "NO_PROXY": "127.0.0.1"}, stdout=subprocess.DEVNULL, stderr=subprocess.STDOUT, check=False)
    place = pathlib.Path(f"out_{scenario}") / SAMPLE.name / "attempt_0"
    for line in (place / "completions.jsonl").read_text().splitlines()[1:]:
        for message in json.loads(line)["messages"]:
            print(json.dumps(message)[:600])
    trajectory = json.loads((place / "trajectory.jsonl").read_text())
    print(f"{scenario} ends with {trajectory['exit_reason']}: {json.dumps(trajectory)[-600:] if trajectory['exit_reason'] != 'agent' else ''}", flush=True)


def attempts(scenarios, options):
    port = free_port()
    server = subprocess.Popen([sys.executable, "../server.py", str(port)])
    try:
        wait_for(port)
        for scenario in scenarios:
            attempt(scenario, port, options)
    finally:
        server.kill()
        server.wait()


def rewards(bodies):
    server = subprocess.Popen(["passnet", "reward", SAMPLE, "--listen", "0", "--json"], stdout=subprocess.PIPE, text=True)
    try:
        url = json.loads(server.stdout.readline())["url"]
        for body in bodies:
            try:
                with urllib.request.urlopen(urllib.request.Request(f"{url}/reward", body.encode(), {"Content-Type": "application/json"})) as answer:
                    print(answer.status, answer.read().decode())
            except urllib.error.HTTPError as refused:
                print(refused.code, refused.read().decode())
    finally:
        server.kill()
        server.wait()


if __name__ == "__main__":
    what, *rest = sys.argv[1:]
    cut = rest.index("--") if "--" in rest else len(rest)
    attempts(rest[:cut], rest[cut + 1:]) if what == "agent" else rewards(rest)
