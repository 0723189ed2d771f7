"""PassNet's tasks, tools and rewards for trainers and evaluators of language models. Each module needs the one library that it is for."""

from typing import Any

from passnet_env.client import Attempt, RewardService

# verifiers finds a taskset by the names here, of which it takes the one class of its own.
__all__ = ["Attempt", "PassTaskset", "RewardService"]


def __getattr__(name: str) -> Any:
    """PassTaskset, once it is asked for: its module needs verifiers."""
    if name != "PassTaskset":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from passnet_env.verifiers import PassTaskset

    return PassTaskset
