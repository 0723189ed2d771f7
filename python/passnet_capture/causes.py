"""Why a model was not captured: a fixed list of causes, and how an exception is given one of them."""

import sys

# docs/dataset.md says what each means.
CAUSES = ("not-found", "needs-download", "constructor", "inputs", "trace", "graph-break-only", "data-dependent", "unsupported", "timeout",
          "memory", "crash", "too-large", "no-graph")  # fmt: skip


class CaptureFailure(Exception):
    """A model or a shape of it that is not captured. `str()` is one line: what was found and what to do."""

    def __init__(self, cause: str, message: str):
        assert cause in CAUSES, cause
        super().__init__(first_line(message))
        self.cause = cause


def first_line(text: str, limit: int = 400) -> str:
    lines = [line.strip() for line in str(text).splitlines() if line.strip()]
    return lines[0][:limit] if lines else ""


def describe(error: BaseException) -> str:
    """`ValueError: text`, first line only."""
    name, text = type(error).__name__, first_line(str(error))
    return f"{name}: {text}" if text else name


OUT_OF_MEMORY = ("can't allocate memory", "bad_alloc", "Cannot allocate memory", "not enough memory", "unable to mmap")


def is_out_of_memory(error: BaseException) -> bool:
    return any(isinstance(e, MemoryError) or any(text in str(e) for text in OUT_OF_MEMORY) for e in _chain(error))


def is_download(error: BaseException) -> bool:
    """Something wanted a file that is not on this machine. Children run with the hub's client set to be offline."""
    names = ("URLError", "ConnectionError", "LocalEntryNotFoundError", "OfflineModeIsEnabled", "HTTPError", "ConnectError")
    texts = ("outgoing traffic has been disabled", "couldn't connect to", "is not the path to a directory", "Name or service not known",
             "is not a local folder", "HF_HUB_OFFLINE", "offline mode")  # fmt: skip
    return any(type(e).__name__ in names or any(text in str(e) for text in texts) for e in _chain(error))


def is_data_dependent(reason: str) -> bool:
    texts = ("data-dependent", "data dependent", "dynamic shape operator", "unbacked symint", "could not guard on",
             "Tensor.item", "DynamicOutputShape", "depends on the value of")  # fmt: skip
    return any(text.lower() in reason.lower() for text in texts)


def _chain(error: BaseException | None):
    for _ in range(20):
        if error is None:
            return
        yield error
        error = error.__cause__ or error.__context__


def no_pytorch(error: ImportError) -> tuple[str, str]:
    """What is wrong, and what to do."""
    return (f"{sys.executable} cannot import PyTorch: {error}",
            "run 'make setup-capture' once, which installs what capturing needs, or name another Python in PASSNET_PYTHON")  # fmt: skip
