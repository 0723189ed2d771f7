"""Why a model was not captured: a fixed list of causes, and how an exception is given one of them."""

CAUSES = {
    "not-found": "no model of this name",
    "needs-download": "the model asks for files from the network",
    "constructor": "building the model failed",
    "inputs": "no arguments were found that the model runs with",
    "trace": "the model runs, but tracing it failed",
    "graph-break-only": "graph breaks left no piece with an operator",
    "data-dependent": "control flow depends on data, and no piece with an operator is left",
    "unsupported": "the graph holds what graph directories cannot say, or the kind of model is left out",
    "timeout": "the time limit passed",
    "memory": "the memory limit was reached",
    "crash": "the process died",
    "too-large": "the graph, or the model that would have to run, is too large",
    "no-graph": "the model computes nothing that torch.compile sees",
}


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


def is_out_of_memory(error: BaseException) -> bool:
    texts = ("can't allocate memory", "bad_alloc", "Cannot allocate memory", "not enough memory", "unable to mmap")
    return any(isinstance(e, MemoryError) or any(text in str(e) for text in texts) for e in _chain(error))


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
