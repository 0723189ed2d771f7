import torch


def pattern(x):
    return x.relu()


def replacement_args(x):
    return (x,)


def plan(x):
    n = 0
    while n < 1:
        n = n * 2
    return x


def replacement_func():
    return plan
