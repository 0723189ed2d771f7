import torch


def pattern(x):
    return x.relu()


def replacement_args(x):
    return (x,)


def plan(x):
    return x.__class__.__base__


def replacement_func():
    return plan
