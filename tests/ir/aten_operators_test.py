"""src/ir/ops/aten_rows.h is what scripts/aten_operators writes for the installed PyTorch.

Skipped without PyTorch, and with another version than the list was made from.
"""
import importlib.metadata
import os
import pathlib
import re
import subprocess
import sys

try:
    TORCH = importlib.metadata.version("torch")
except importlib.metadata.PackageNotFoundError:
    print("skipped: 1 test, without PyTorch in", sys.executable)
    sys.exit(77)

SOURCE = pathlib.Path(os.environ.get("PASSNET_SOURCE_DIR", "."))
ROWS = (SOURCE / "src/ir/ops/aten_rows.h").read_text()


def main():
    made_from = re.search(r"from torch\n// ([\d.]+),", ROWS)[1]
    if not TORCH.startswith(made_from):
        print(f"skipped: 1 test, the list was made from torch {made_from}, and this is {TORCH}")
        return 77
    return subprocess.run([sys.executable, SOURCE / "scripts/aten_operators", "--check"], check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
