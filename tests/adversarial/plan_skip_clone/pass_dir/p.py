import torch


def pattern(x):
    return x.clone()


def replacement_args(x):
    return (x,)


def plan(x):
    return x


def replacement_func():
    return plan
