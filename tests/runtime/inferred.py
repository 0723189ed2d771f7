"""Types that were inferred without data beside those of a real call."""


def typed(value):
    """A VALUE of docs/protocol.md without strides and numbers."""
    if "shape" in value:
        return value["dtype"], value["shape"]
    if "list" in value:
        return [typed(element) for element in value["list"]]
    return sorted(value)


def difference(inferred, real):
    """What of the inferred values is not known or not as in the call; '' when nothing. Both by node name."""
    if inferred.keys() != real.keys():
        return f"other nodes: {sorted(inferred.keys() ^ real.keys())[:3]}"
    for name, value in real.items():
        if "unknown" in inferred[name]:
            return f"{name}: {typed(value)}, not known: {inferred[name]['unknown']}"
        if typed(inferred[name]) != typed(value):
            return f"{name}: {typed(value)}, inferred {typed(inferred[name])}"
    return ""
