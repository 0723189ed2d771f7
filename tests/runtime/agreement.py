"""What 'the same result' means: bit-equal, or within the tolerance ladder at t = -5 (spec E.3)."""
import torch

TOLERANCE = {torch.float16: (1e-5, 1e-3), torch.bfloat16: (1e-5, 1.6e-2), torch.float32: (1e-5, 1.3e-6),
             torch.float64: (1e-7, 1e-7), torch.complex64: (1e-5, 1.3e-6), torch.complex128: (1e-7, 1e-7)}
CHUNK = 1 << 24  # elements that are compared at a time: temporaries in double stay small beside big outputs


def difference(expected, found):
    """('equal' | 'close' | 'differs', largest absolute difference, what differs)."""
    if expected.dtype != found.dtype or expected.shape != found.shape:
        return "differs", float("inf"), (f"{found.dtype} {list(found.shape)}, expected {expected.dtype} {list(expected.shape)}")
    if expected.is_conj() or expected.is_neg():
        expected = expected.resolve_conj().resolve_neg()
    expected, found = expected.reshape(-1), found.reshape(-1)
    largest, beyond, unequal = 0.0, 0, 0
    for start in range(0, expected.numel(), CHUNK):
        a, b = expected[start:start + CHUNK], found[start:start + CHUNK]
        if same_values(a, b):
            continue
        if expected.dtype not in TOLERANCE:
            beyond += (a != b).sum().item()
            continue
        wide = torch.complex128 if a.is_complex() else torch.float64
        atol, rtol = TOLERANCE[expected.dtype]
        same = (a == b) | (a.isnan() & b.isnan())
        a, b = a.to(wide), b.to(wide)
        gap = torch.where(same, 0.0, (a - b).abs().nan_to_num(nan=float("inf"), posinf=float("inf")))
        unequal += 1
        largest = max(largest, gap.max().item())
        beyond += (~(gap <= atol + rtol * a.abs().nan_to_num()) & ~same).sum().item()
    if beyond:
        return "differs", largest, f"{beyond} of {expected.numel()} elements beyond t = -5, largest difference {largest:.3g}"
    return ("close" if unequal else "equal"), largest, ""


def same_values(a, b):
    return torch.equal(a, b) or (a.is_floating_point() or a.is_complex()) and bool(((a == b) | (a.isnan() & b.isnan())).all())

