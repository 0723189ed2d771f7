"""What `passnet author --json` came to: author_summary.py REPORTS. Scores of samples, and why operators and passes were left."""

import collections
import json
import math
import re
import sys


def main(path):
    with open(path) as file:
        reports = json.load(file)
    passes = [one for report in reports for one in report["passes"]]
    kept = [one for one in passes if one["kept"]]
    nothing = [report for report in reports if not any(one["kept"] for one in report["passes"])]
    judged = [report["score"] for report in reports if report["score"] is not None]
    print(f"{len(reports)} samples, {len(nothing)} of them without a pass; {len(kept)} of {len(passes)} written passes kept")
    if judged:
        mean = math.exp(sum(map(math.log, judged)) / len(judged))
        print(f"aggregated score over our eager: {mean:.3f} (geometric mean of {len(judged)} samples), {sum(score < 1 for score in judged)} below 1")
    for report in sorted(reports, key=lambda one: one["score"] or 0):
        print(f"{report['score'] or 0:7.3f}  {report['sample'][:60]:60}  " + "; ".join(
            f"{one['pass']} {one['ratio'] or 0:.2f}x {'kept' if one['kept'] else 'not kept'}" for one in report["passes"]))
    # Names of graphs and figures say nothing about a cause.
    causes = collections.Counter(re.sub(r"\S*/\S*|[0-9]+(\.[0-9]+)?", "…", one["why"])[:150] for one in passes if not one["kept"])
    causes.update("left: " + one["why"][:150] for report in reports for one in report["left"])
    for cause, count in causes.most_common(30):
        print(f"{count:4} {cause}")


if __name__ == "__main__":
    main(sys.argv[1])
