"""src/ir/ops/aten_rows.h is what scripts/aten_operators writes for the installed PyTorch, and docs/operators.md has its reasons.

Skipped without PyTorch, and with another version than the list was made from.
"""
import os
import pathlib
import re
import subprocess
import sys

try:
    import torch
except ImportError:
    print("skipped: 2 tests, without PyTorch in", sys.executable)
    sys.exit(77)

SOURCE = pathlib.Path(os.environ.get("PASSNET_SOURCE_DIR", "."))
ROWS = (SOURCE / "src/ir/ops/aten_rows.h").read_text()


def check_document():
    """A row of the table for each reason, with the same words."""
    document = (SOURCE / "docs/operators.md").read_text()
    reasons = re.findall(r'^\{"(\w+)", "([^"]+)",$', ROWS, re.MULTILINE)
    missing = [name for name, reason in reasons if f"| {name} | {reason} |" not in document]
    if missing or not reasons:
        print("docs/operators.md lacks the reasons", missing)
    return not missing and bool(reasons)


def main():
    documented = check_document()
    made_from = re.search(r"from torch\n// ([\d.]+),", ROWS)[1]
    if not torch.__version__.startswith(made_from):
        print(f"skipped: 1 test, the list was made from torch {made_from}, and this is {torch.__version__}")
        return 77 if documented else 1
    checked = subprocess.run([sys.executable, SOURCE / "scripts/aten_operators", "--check"], check=False).returncode
    return 0 if documented and checked == 0 else 1


if __name__ == "__main__":
    sys.exit(main())
