"""input_tensor_constraints.py: which sizes of a graph's arguments change with the shape of the model's inputs."""

from collections.abc import Sequence

Shapes = dict[str, list[int]]  # argument -> sizes, in the order of the signature


def is_data_input(name: str) -> bool:
    """Neither parameter nor buffer: comes from the call, or from an earlier piece of the model."""
    return "_self_" not in name and "_instance_modules_" not in name


def find_symbols(captured: Sequence[Shapes], batches: Sequence[int]) -> dict[tuple[str, int], int]:
    """(data input, axis) -> number of its symbol.

    captured: the same graph at each shape; batches: the batch of each. A size is a symbol when it differs between the
    shapes, or is the batch of each on axis 0. Sizes that are equal at every shape are one symbol.
    """
    numbers: dict[tuple[int, ...], int] = {}
    symbols = {}
    for name, sizes in captured[0].items():
        if not is_data_input(name):
            continue
        others = [shapes.get(name) for shapes in captured]
        if any(other is None or len(other) != len(sizes) for other in others):
            continue
        for axis in range(len(sizes)):
            values = tuple(other[axis] for other in others)
            if len(set(values)) > 1 or (axis == 0 and values == tuple(batches)):
                symbols[name, axis] = numbers.setdefault(values, len(numbers))
    return symbols


def constraints_text(shapes: Shapes, symbols: dict[tuple[str, int], int]) -> str:
    """The text for one captured shape, whose sizes are the example values."""
    examples = {}
    for (name, axis), symbol in symbols.items():
        examples[symbol] = shapes[name][axis]
    used = [f"S{symbol}" for symbol in sorted(examples)]
    lines = []
    if used:
        lines += ["from sympy import Symbol", ""] + [f'{symbol} = Symbol("{symbol}")' for symbol in used] + [""]
    values = ", ".join(f"S{symbol}: {examples[symbol]}" for symbol in sorted(examples))
    lines += [
        f"dynamic_dim_constraint_symbols = [{', '.join(used)}]",
        "",
        f"dynamic_dim_constraint_symbol2example_value = {{{values}}}",
        "",
        "dynamic_dim_constraint_relations = []",
        "",
        "dynamic_dim_constraint_input_shapes = [",
    ]
    for name in sorted(shapes):
        sizes = [f"S{symbols[name, axis]}" if (name, axis) in symbols else str(size) for axis, size in enumerate(shapes[name])]
        lines.append(f'    ([{", ".join(sizes)}], "{name}"),')
    return "\n".join(lines + ["]"]) + "\n"
