"""Small models, one function per way in which capturing goes well or fails."""

import os
import signal
import time

import torch
from torch import nn


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(8, 8)
        self.norm = nn.BatchNorm1d(8)
        self.register_buffer("steps", torch.arange(100))

    def forward(self, x):
        y = self.norm(self.linear(x))
        y += 1
        y[0] = 0.0
        return torch.nn.functional.gelu(y)[:, 1:], self.steps * 2


def plain():
    return Block(), {"x": torch.randn(4, 8)}


def two_shapes():
    model = Block()
    return [("b2", model, {"x": torch.randn(2, 8)}), ("b5", model, {"x": torch.randn(5, 8)})]


def one_shape_fails():
    model = Block()
    return [("b2", model, {"x": torch.randn(2, 8)}), ("wide", model, {"x": torch.randn(2, 9)})]


def tell_of_this_process():
    with open(os.environ["CAPTURE_TEST_STARTED"], "w") as started:
        started.write(str(os.getpid()))


def many_shapes():
    tell_of_this_process()
    model = Block()
    return [(f"b{batch}", model, {"x": torch.randn(batch, 8)}) for batch in range(2, 10)]


class Lambda(nn.Module):
    def __init__(self, function):
        super().__init__()
        self.linear, self.function = nn.Linear(8, 8), function

    def forward(self, x):
        return self.function(self, x)


def model_of(function):
    return Lambda(function), {"x": torch.randn(2, 8)}


def broken(self, x):
    y = self.linear(x)
    torch._dynamo.graph_break()
    return y.relu()


def graph_break():
    return model_of(broken)


def autocast():
    def forward(self, x):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            return self.linear(x)

    return model_of(forward)


def infinite():
    return model_of(lambda self, x: torch.where(x > 0, x, float("-inf")).to(torch.device("cpu")))


def constructor():
    raise ValueError("found 3 heads, expected 4\nsecond line")


def no_pair():
    return nn.Linear(2, 2)


def needs_download():
    raise OSError("We couldn't connect to 'https://example.org' to load the files")


def inputs():
    return Lambda(lambda self, x: self.linear(x)), {"x": torch.randn(2, 9)}


@torch.library.custom_op("passnet_capture_test::untraceable", mutates_args=())
def untraceable(x: torch.Tensor) -> torch.Tensor:
    return x.clone()


@untraceable.register_fake
def _(x):
    raise RuntimeError("this operator has no shape rule")


def trace():
    return model_of(lambda self, x: untraceable(x))


def graph_break_only():
    return model_of(torch._dynamo.disable(lambda self, x: self.linear(x)))


def data_dependent():
    return Lambda(lambda self, x: x if x else -1), {"x": torch.tensor(0.0)}


def unsupported():
    return model_of(lambda self, x: torch.cond(x.sum() > 0, lambda x: x + 1, lambda x: x - 1, (x,)))


def _define_twice():
    @torch.library.custom_op("toys::twice", mutates_args=())
    def twice(x: torch.Tensor) -> torch.Tensor:
        return x * 2

    twice.register_fake(torch.empty_like)


def custom_operator():
    _define_twice()
    return model_of(lambda self, x: torch.ops.toys.twice(x + 1))


def custom_overload():
    _define_twice()
    return model_of(lambda self, x: torch.ops.toys.twice.default(x + 1))


def hungry():
    kept = []
    while True:
        kept.append(bytearray(1 << 24))


def killed():
    os.kill(os.getpid(), signal.SIGKILL)


def no_graph():
    return model_of(lambda self, x: x)


def timeout():
    while True:
        time.sleep(1)


def memory():
    return model_of(torch.arange(1 << 32))


class Experts(nn.Module):
    """One parameter of 2 GiB, were it filled."""

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(8, 8192, 8192))

    def forward(self, x):
        return x @ self.weight[0]


def experts():
    return Experts(), {"x": torch.randn(1, 8192)}


class Table(nn.Module):
    """One buffer of 4 GiB."""

    def __init__(self):
        super().__init__()
        self.register_buffer("table", torch.zeros(1 << 30))

    def forward(self, x):
        return x + self.table[0]


def large_buffer():
    return Table(), {"x": torch.randn(4)}


def crash():
    os.abort()


class Wide(nn.Module):
    """512 MiB of parameters, were they filled."""

    def __init__(self, forward=None):
        super().__init__()
        self.linear = nn.Linear(8192, 16384)
        self.norm = nn.LayerNorm(16384)
        self.register_buffer("table", torch.arange(8192.0))
        self.tail = forward

    def forward(self, x):
        y = self.norm(self.linear(x + self.table))
        return self.tail(y) if self.tail else y


def wide():
    return Wide(), {"x": torch.randn(1, 8192)}


def too_large():
    return Wide(torch._dynamo.disable(lambda y: y + 1)), {"x": torch.randn(1, 8192)}


def sleeping():
    tell_of_this_process()
    time.sleep(600)
