"""A second reader of validation.log, after the rules of docs/scoring.md ("Logs", "Tolerances"): what a tool makes of it that knows nothing of PassNet."""

import math
import re

RELATIVE = {"float16": 3, "bfloat16": 1.796, "float32": 5.886, "float64": 7}  # rtol = 10 ** (x t / 5)
PENALTY = 0.1
FORGIVEN_FROM = {"accuracy": 1, "compile_fail": 3}  # all others: 3 as well


def blocks(text):
    """The lines of each graph, from its [Processing] on."""
    found = []
    for line in text.splitlines():
        if "[Processing]" in line:
            found.append([])
        if found:
            found[-1].append(line)
    return found


class Graph:
    def __init__(self, lines):
        self.name = lines[0].split()[-1]
        self.dtypes, self.checks, self.speedup = [], {}, None
        for line in lines:
            if match := re.search(r"\[Datatype\]\[(\w+)\]: (.+)", line):
                self.dtypes = match[2].split() if match[1] == "eager" else self.dtypes
            elif match := re.search(r"\[Correctness\](\[.+\]): (.+)", line):
                self.checks[match[1]] = [float(value) for value in match[2].split()]
            elif match := re.search(r"\[Speedup\]\[e2e\]: (.+)", line):
                self.speedup = float(match[1])
        self.status = self.status_of(lines)

    @staticmethod
    def status_of(lines):
        compared = any("all_close" in line for line in lines)
        if not compared and not any("[Datatype][eager]" in line for line in lines):
            return "eager_fail"
        if not compared and not any("[Datatype][compiled]" in line for line in lines):
            return "compile_fail"
        for key, status in (("[Shape]", "shape_mismatch"), ("[DataType]", "type_mismatch")):
            matched = any(key in line and "match:True" in line for line in lines)
            if not matched and not (compared and key == "[Shape]"):
                return status
        return "runtime_fail" if any("Exception:" in line or "Error:" in line for line in lines) else "correct"

    def failure(self, t):
        """The kind of error at a tolerance, or None."""
        if self.status != "correct":
            return self.status
        for i in range(len(self.checks.get("[equal]", []))):
            dtype = self.dtypes[i]
            key = "[equal]"
            if dtype in RELATIVE:
                atol = 10 ** (7 * t / 5) if dtype == "float64" else 10.0**t
                key = f"[all_close_atol_{atol:.2E}_rtol_{10 ** (RELATIVE[dtype] * t / 5):.2E}]"
            if not self.checks.get(key, [0] * (i + 1))[i]:
                return "accuracy"
        return None

    def counts(self, t):
        """What it counts in ES(t)."""
        kind = self.failure(min(t, 1))
        if kind is None:
            return self.speedup
        return 1 if t >= FORGIVEN_FROM.get(kind, 3) else PENALTY


def es(graphs, t):
    return math.exp(sum(math.log(graph.counts(t)) for graph in graphs) / len(graphs))
