"""What was wrong with a kernel, in one line, and where: from the exceptions of Python and Triton."""

import ast
import difflib
import re
import sys
import traceback


class PassError(Exception):
    """A message as it is."""


def describe(error: BaseException) -> dict:
    """{message, file, line, column, hint}; without a place where it is not known, without a hint where there is none."""
    from triton.compiler.errors import CompilationError

    if isinstance(error, SyntaxError):
        return _found(f"invalid syntax: {error.msg}", (error.filename, error.lineno or 0, error.offset or 0))
    chain = [error]
    while (cause := chain[-1].__cause__ or chain[-1].__context__) is not None and len(chain) < 64:
        chain.append(cause)
    compilations = [e for e in chain if isinstance(e, CompilationError)]
    if not compilations:
        return _found(_words(type(error).__name__, str(error)), _place_of_traceback(error))
    # The innermost has the message; the innermost in the pass's own text has the place.
    places = [place for e in compilations if (place := _place(e))]
    message = next((e.error_message for e in reversed(compilations) if e.error_message), "")
    if not message and not isinstance(chain[-1], CompilationError):
        message = repr(chain[-1])
    if not message:
        message = type(compilations[-1]).__name__
    return _found(_plain(str(message)), places[-1] if places else None)


def _found(message: str, place) -> dict:
    # Not where things lay in memory, nor how Triton itself could be set up otherwise.
    message = re.sub(r" at 0x[0-9a-f]+", "", message)
    message = re.sub(r"(Cannot access global variable \w+ from within @jit'ed function).*", r"\1", message, flags=re.DOTALL)
    found: dict = {"message": message}
    if place and place[0]:
        found.update(file=str(place[0]), line=place[1], column=place[2])
    if hint := _hint(message):
        found["hint"] = hint
    return found


def _place(error):
    """File, line and column of the node that Triton stopped at, when it stands in a text of the pass."""
    from triton.runtime import JITFunction
    from triton.runtime.jit import get_jit_fn_file_line

    node, source = getattr(error, "node", None), getattr(error, "src", None)
    if source is None or not hasattr(node, "lineno"):
        return None
    for module in list(sys.modules.values()):
        for value in list(getattr(module, "__dict__", {}).values()):
            if isinstance(value, JITFunction) and value.src == source and not value.__module__.startswith("triton."):
                file, line = get_jit_fn_file_line(value)
                return file, line + node.lineno - 1, node.col_offset + 1
    return None


def _place_of_traceback(error: BaseException):
    from .modules import file_of_pass

    own = [frame for frame in traceback.extract_tb(error.__traceback__) if file_of_pass(frame.filename)]
    return (own[-1].filename, own[-1].lineno, (own[-1].colno or 0) + 1) if own else None


def _words(kind: str, text: str) -> str:
    """An exception's text, with its kind where that says something."""
    if kind in ("PassError", "AttributeError", "NameError", "RuntimeError", "IncompatibleTypeErrorImpl", "ValueError", "ModuleNotFoundError"):
        return text or kind
    return f"{kind}: {text}" if text else kind


def _plain(message: str) -> str:
    """Triton quotes what Python raised as "NameError('x is not defined')"."""
    wrapped = re.fullmatch(r"(\w+)\((.*)\)", message.strip(), re.DOTALL)
    if wrapped and wrapped[1].endswith(("Error", "ErrorImpl", "Exception")):
        try:
            value = ast.literal_eval(wrapped[2].strip().rstrip(",") or "''")
        except (SyntaxError, ValueError):
            return message
        return _words(wrapped[1], str(value))
    return message


# What Triton says, and what to do; {0} is what stands in the first parentheses.
_HINTS = (
    (r"Cannot access global variable (\w+)", "write {0} = tl.constexpr(…), or pass it as a parameter"),
    (r"Unsupported function referenced: <function (\w+)", "write @triton.jit above 'def {0}'"),
    (
        r"Unsupported function referenced: ([\w.]+)$",
        "{0} is no @triton.jit function of the pass or of a module beside it",
    ),
    (r"Did you forget to add @triton.jit", "write @triton.jit above the helper that calls it"),
    (r"Expected dtype \['fp32', 'fp64'\] but got (\w+)", "compute it in float32: x.to(tl.float32)"),
    (
        r"(\w+) argument cannot be block type if pointer argument is not a block",
        "add the offsets to the pointer, as in tl.load(x + offsets, mask=offsets < n)",
    ),
    (r"arange's range must be a power of 2", "use a power of two, as triton.next_power_of_2(n), and a mask"),
    (r"arange's arguments must be of type tl.constexpr", "annotate the parameter: BLOCK: tl.constexpr"),
    (r"invalid operands of type pointer", "load what the pointer points to first: tl.load(…)"),
    (r"module 'triton.language' has no attribute '\w*thread", "a Triton program is one block, not one thread: use tl.program_id and tl.arange"),  # fmt: skip
)


def _hint(message: str) -> str:
    import triton.language as tl

    for words, hint in _HINTS:
        if found := re.search(words, message):
            return hint.format(*found.groups())
    if missing := re.search(r"module 'triton\.language' has no attribute '(\w+)'", message):
        near = difflib.get_close_matches(missing[1], dir(tl), 1)
        return f"did you mean tl.{near[0]}?" if near else ""
    return ""
