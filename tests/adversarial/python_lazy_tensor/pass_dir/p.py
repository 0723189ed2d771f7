import torch


class Lazy:
    def __init__(self, x):
        self.x = x


def pattern(x):
    return x.relu()


def replacement_args(x):
    return (x,)


def plan(x):
    return Lazy(x)


def replacement_func():
    return plan
