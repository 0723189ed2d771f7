"""Errors with the fields that PassNet's programs give them."""

from __future__ import annotations

from typing import NamedTuple


class Place(NamedTuple):
    """A place in a text of the user; line and column count from 1, 0 is the whole file."""

    file: str
    line: int
    column: int


class Error(Exception):
    """An error of PassNet.

    message: one line, lower case. kind: "bad-input", "bad-pass", "unsupported", "resource", "io", or the failure that records
    name, for example "no-match". hint: what to do; may be empty. at: where in the input, or None. text: all of it as the
    command line prints it. exit_code: of the program that ended with it, or None. category: one of the five kinds, where `kind`
    is the name of a failure. An Error of one of the five kinds is made as its subclass.
    """

    def __new__(cls, message: str, kind: str = "bad-input", *fields, category: str = "", **named):
        return super().__new__(_BY_KIND.get(category or kind, Error) if cls is Error else cls)

    def __init__(self, message: str, kind: str = "bad-input", hint: str = "", text: str = "", at: tuple[str, int, int] = ("", 0, 0),
                 exit_code: int | None = None, *, category: str = ""):  # fmt: skip
        self.message, self.kind, self.hint = message, kind, hint
        self.at = Place(*at) if at[0] else None
        self.text = text or f"error: {message}" + (f"\nhint: {hint}" if hint else "")
        self.exit_code = exit_code
        super().__init__(self.text)

    def __reduce__(self):
        return type(self), (self.message, self.kind, self.hint, self.text, self.at or ("", 0, 0), self.exit_code)


class BadInput(Error):
    """A graph, an argument or an option is wrong."""


class BadPass(Error):
    """A pattern, plan or kernel is wrong."""


class Unsupported(Error):
    """A known gap of PassNet."""


class ResourceError(Error):
    """The machine lacks something: memory, time, a tool, PyTorch."""


class IoError(Error):
    """A file cannot be read or written."""


_BY_KIND = {"bad-input": BadInput, "bad-pass": BadPass, "unsupported": Unsupported, "resource": ResourceError, "io": IoError}
