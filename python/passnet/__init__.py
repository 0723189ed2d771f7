"""PassNet in Python: capture graphs, write and judge passes for them, and run models with the passes that are faster.

    import torch, passnet
    passnet.tune(model, (x,))                           # once: write, check and time passes, keep the faster ones
    fast = torch.compile(model, backend="passnet")      # uses them
"""

from importlib import import_module

from .errors import BadInput, BadPass, Error, IoError, ResourceError, Unsupported

# Imported when they are first used: `import passnet` needs no PyTorch.
_HOMES = {
    "Graph": "graph", "capture": "graph",
    "Result": "results", "load": "results",
    "Bundle": "bundles", "bundle": "bundles",
    "author": "judging", "check": "judging", "evaluate": "judging",
    "tune": "tuning", "trust": "tuning", "explain": "tuning", "Report": "tuning",
}  # fmt: skip
__all__ = ["BadInput", "BadPass", "Error", "IoError", "ResourceError", "Unsupported", *_HOMES]


def __getattr__(name: str):
    if name == "__version__":
        from .build_facts import VERSION

        return VERSION
    if name not in _HOMES:
        raise AttributeError(f"module 'passnet' has no attribute '{name}'")
    value = getattr(import_module(f".{_HOMES[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOMES, "__version__"])
