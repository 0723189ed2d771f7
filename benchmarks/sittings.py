"""Tables that sittings on a GPU add up to: CSV files with a row per task, or per graph of one."""

import csv

TASK_LETTERS = 16  # of the 64 of a task's name


def read_rows(table):
    """The rows so far; none where there is no file."""
    if not table.exists():
        return []
    with table.open(newline="") as file:
        return list(csv.DictReader(file))


def write_rows(table, columns, rows):
    """A column that a row lacks is empty."""
    with table.open("w", newline="") as file:
        writer = csv.DictWriter(file, columns, restval="", lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
