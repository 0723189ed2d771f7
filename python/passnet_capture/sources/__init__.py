"""Where models come from. A source is an object with:

name                 as in the journal and as the directory's name
licence              of its library, when a model says none
library_version      None when there is no library
names()              of all its models
left_out(name)       why a model is not captured at all, or None
plan(name, shapes)   builds the model; raises CaptureFailure or whatever the library raises
"""

import difflib
from importlib.metadata import metadata, version
from pathlib import Path


class SourceError(Exception):
    """The source does not exist or cannot be used here. `hint` says what to do, where `str()` does not."""

    def __init__(self, message: str, hint: str = ""):
        super().__init__(message)
        self.hint = hint


def find_source(text: str):
    """timm, torchvision, transformers, or FILE.py:function."""
    if ".py:" in text:
        from .from_file import FileSource

        path, _, function = text.rpartition(":")
        return FileSource(Path(path), function)
    try:
        if text == "timm":
            from .from_timm import TimmSource as Source
        elif text == "torchvision":
            from .from_torchvision import TorchvisionSource as Source
        elif text == "transformers":
            from .from_transformers import TransformersSource as Source
        else:
            near = difflib.get_close_matches(text, ("timm", "torchvision", "transformers"), 1)
            raise SourceError(f"found '{text}', expected timm, torchvision, transformers or FILE.py:function",
                              f"did you mean '{near[0]}'?" if near else "")  # fmt: skip
        return Source()
    except ImportError as error:
        raise SourceError(f"found no Python package '{error.name}' ({error}), expected it for '{text}'",
                          "install it into the Python that runs the capture") from error  # fmt: skip


class Library:
    """A source that is a Python package of the same name."""

    name: str

    def __init__(self):
        facts = metadata(self.name)
        self.library_version = version(self.name)
        self.licence = facts.get("License-Expression") or facts.get("License")

    def left_out(self, name: str) -> str | None:
        return None
