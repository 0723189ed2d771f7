"""What the name of a graph's argument says about it."""


def is_data_input(name: str) -> bool:
    """Neither parameter nor buffer: comes from the call, or from an earlier piece of the model."""
    return "_self_" not in name and "_instance_modules_" not in name
