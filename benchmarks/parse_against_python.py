"""parse_against_python.py PARSE_BENCHMARK DIR…: reading model.py files, ours beside CPython's ast.parse.

The two take turns in one run, on the same files, on one core each. Prints one JSON line with the medians, in 10^6 bytes per second of processor time.
"""

import ast
import json
import pathlib
import statistics
import subprocess
import sys
import time

TURNS = 3


def python_rate(texts):
    """Megabytes per second of ast.parse over all texts."""
    start = time.thread_time()
    for text in texts:
        ast.parse(text)
    return sum(len(text) for text in texts) / (time.thread_time() - start) / 1e6


def our_rate(program, directories):
    done = subprocess.run([program, *directories], check=True, capture_output=True, text=True)
    return json.loads(done.stdout)["median_mb_per_s"]


def main():
    program, *directories = sys.argv[1:]
    files = sorted(path for directory in directories for path in pathlib.Path(directory).rglob("model.py"))
    texts = [path.read_bytes() for path in files]
    ours, python = [], []
    for _ in range(TURNS):
        ours.append(our_rate(program, directories))
        python.append(python_rate(texts))
    row = {
        "files": len(texts),
        "bytes": sum(map(len, texts)),
        "ours_mb_per_s": round(statistics.median(ours), 1),
        "ast_parse_mb_per_s": round(statistics.median(python), 1),
        "ratio": round(statistics.median(ours) / statistics.median(python), 1),
    }
    print(json.dumps(row))


if __name__ == "__main__":
    sys.exit(main())
