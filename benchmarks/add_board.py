"""Adds sittings of `scripts/gpu leaderboard` to a table, so that they come to four models on the whole official benchmark.

    add_board.py benchmarks/results/official_models.csv LEADERBOARD...

LEADERBOARD is a leaderboard.json. Its tasks replace the rows that the table has of them, unless the machine kept graphs from being
evaluated.
"""

import json
import pathlib
import sys

from sittings import TASK_LETTERS, read_rows, write_rows

COLUMNS = ["model", "task", "graphs", "coverage", "correct", "fast_1", "score", "passbench_score", "published", "not_ranked"]


def rows_of(board):
    """A row per model and task. score: by our rules; passbench_score: of the same run by PassBench's."""
    for model in board["models"]:
        for task in model["tasks"]:
            summary, scores, left_out = task["summary"], task["scores"], task["left_out"]
            if left_out["not_evaluated"]:
                continue
            figures = (summary["coverage"], summary["correct_share"], summary["fast_1"], scores["ours"], scores["upstream"], scores["published"])
            yield dict(zip(COLUMNS, (model["model"], task["task"][:TASK_LETTERS], task["graphs"],
                                     *("" if one is None else f"{one:.4g}" for one in figures), left_out["not_ranked"])))


def main(table, boards):
    rows = {(row["model"], row["task"]): row for row in read_rows(table)}
    for board in boards:
        rows |= {(row["model"], row["task"]): row for row in rows_of(json.loads(pathlib.Path(board).read_text()))}
    write_rows(table, COLUMNS, (rows[key] for key in sorted(rows)))
    print(f"{len({task for _, task in rows})} tasks of {len({model for model, _ in rows})} models")


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    main(pathlib.Path(sys.argv[1]), sys.argv[2:])
