import torch


def pattern(x):
    return x + 0


def replacement_args(x):
    return (x,)


def plan(x):
    return x


def replacement_func():
    return plan
