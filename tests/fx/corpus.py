"""Where the public graphs lie, and how tests say that they had none. Exit code 77 means skipped."""

import importlib.util
import os
import pathlib
import sys

SOURCE = pathlib.Path(os.environ["PASSNET_SOURCE_DIR"])
BINARIES = pathlib.Path(os.environ["PASSNET_BINARY_DIR"]) / "bin"
CORPUS = pathlib.Path(os.environ.get("PASSNET_CORPUS") or SOURCE / "../shared/corpus")


def need_torch():
    if importlib.util.find_spec("torch") is None or importlib.util.find_spec("numpy") is None:
        print("skipped: this Python has no PyTorch with NumPy")
        sys.exit(77)


def graph_dirs(*parts):
    """The graph directories of the shipped samples and of parts of the corpus, sorted within each."""
    roots = [SOURCE / "samples"]
    for part in parts:
        if CORPUS.is_dir():
            roots.append(CORPUS / part)
        else:
            print(f"the graphs of corpus/{part} are not read: {CORPUS} does not exist")
    return [path.parent for root in roots for path in sorted(root.rglob("model.py")) if has_records(path.parent)]


def has_records(directory):
    """False where weight_meta.py came out empty: some graphs were published so."""
    meta = directory / "weight_meta.py"
    return not meta.exists() or meta.stat().st_size > 0
