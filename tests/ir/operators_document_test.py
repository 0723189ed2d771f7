"""docs/operators.md holds the operator table as print_operators prints it.

Usage: operators_document_test.py PATH_OF_print_operators [--write]
--write: brings the document up to date instead of comparing.
"""
import os
import pathlib
import subprocess
import sys

DOCUMENT = pathlib.Path(os.environ.get("PASSNET_SOURCE_DIR", ".")) / "docs/operators.md"
BEGIN, END = "<!-- the operator table: begin -->\n", "<!-- the operator table: end -->\n"


def main():
    table = subprocess.run([sys.argv[1]], check=True, capture_output=True, text=True).stdout
    text = DOCUMENT.read_text(encoding="utf-8")
    before, begin, rest = text.partition(BEGIN)
    found, end, after = rest.partition(END)
    if not begin or not end:
        print(f"{DOCUMENT}: the lines that the operator table stands between are missing")
        return 1
    if "--write" in sys.argv:
        DOCUMENT.write_text(before + BEGIN + table + END + after, encoding="utf-8")
        return 0
    for number, (ours, theirs) in enumerate(zip(table.splitlines() + [""], found.splitlines() + [""]), 1):
        if ours != theirs:
            print(f"line {number} of the operator table in {DOCUMENT} is\n  {theirs}\nand the table has\n  {ours}\n"
                  f"write it with: {sys.executable} {sys.argv[0]} {sys.argv[1]} --write")
            return 1
    return 0 if table == found else 1


if __name__ == "__main__":
    sys.exit(main())
