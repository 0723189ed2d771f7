"""How many verdicts a second `passnet reward` gives: batches of answers with the passes that samples ship with.

    reward_rate.py PASSNET SAMPLE… [--device cuda] [--answers 12] [--batches 3] [--overlap N] [--detail screen]
"""

import argparse
import json
import pathlib
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "python" / "env"))
from passnet_env.client import RewardService  # noqa: E402


def answer_of(sample):
    files = sorted((sample / "pass_dir").iterdir())
    return "\n".join(f"### `{path.name}`\n```\n{path.read_text()}\n```" for path in files)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("passnet")
    parser.add_argument("samples", nargs="+", type=pathlib.Path)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--answers", type=int, default=12)
    parser.add_argument("--batches", type=int, default=3)
    parser.add_argument("--overlap", default="")
    parser.add_argument("--detail", default="score")
    given = parser.parse_args()
    command = [given.passnet, "reward", *map(str, given.samples), "--device", given.device, "--listen", "0", "--json"]
    process = subprocess.Popen(command + (["--overlap", given.overlap] if given.overlap else []), stdout=subprocess.PIPE, text=True)
    try:
        service = RewardService(json.loads(process.stdout.readline())["url"], timeout=900)
        items = [given.samples[i % len(given.samples)] for i in range(given.answers)]
        for batch in range(given.batches):
            begin = time.monotonic()
            judged = service.judge([answer_of(sample) for sample in items], [sample.name for sample in items], given.detail)
            seconds = time.monotonic() - begin
            verdicts = {verdict: sum(one["verdict"] == verdict for one in judged) for verdict in {one["verdict"] for one in judged}}
            graphs = sum(len(one["graphs"]) for one in judged)
            print(f"batch {batch}: {len(items)} answers, {graphs} graphs, {seconds:.1f} s, {len(items) / seconds:.2f} verdicts/s, {verdicts}", flush=True)
    finally:
        process.kill()


if __name__ == "__main__":
    main()
