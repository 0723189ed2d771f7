"""Where the time of a run went: gpu_requests.py LOG EVALUATIONS, LOG being what PASSNET_LOG=debug wrote to stderr.

A line per worker and request: seconds per evaluation of one lane, how many requests, and what they waited for their turn of the device.
"""

import collections
import re
import sys

TOOK = re.compile(r"(reference|candidate): (\w+) took ([0-9.]+) ms(?:, after ([0-9.]+) ms for its turn)?")


def sum_requests(log):
    """{(side, request): [seconds, count, seconds of waiting]}"""
    sums = collections.defaultdict(lambda: [0.0, 0, 0.0])
    for side, request, ms, waited in TOOK.findall(log):
        one = sums[side, request]
        one[0] += float(ms) / 1000
        one[1] += 1
        one[2] += float(waited or 0) / 1000
    return sums


def main(path, evaluations):
    with open(path, errors="replace") as file:
        log = file.read()
    sums = sum_requests(log)
    count = max(1, int(evaluations))
    waits = re.findall(r"waited ([0-9.]+) ms to be timed, had the device alone for ([0-9.]+) ms", log)
    to_be_timed, alone = (sum(float(ms[i]) / 1000 for ms in waits) for i in range(2))
    print(f"{len(re.findall('started as process', log))} processes started, {sum(one[0] for one in sums.values()) / count:.3f} s of requests per evaluation, "
          f"{sum(one[2] for one in sums.values()) / count:.3f} s of waiting for a turn, {to_be_timed / count:.3f} s of waiting to be timed, {alone / count:.3f} s of having the device alone")
    for (side, request), (seconds, requests, waited) in sorted(sums.items(), key=lambda item: -item[1][0]):
        print(f"{side:9} {request:16} {seconds / count:7.3f} s per evaluation, {seconds:8.1f} s in {requests:6} requests, {1000 * seconds / requests:8.1f} ms each; waited {waited:7.1f} s")


if __name__ == "__main__":
    main(*sys.argv[1:])
