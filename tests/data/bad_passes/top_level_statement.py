#: FILE:4:1: error: outside the plan language: found a statement at the top level
#: hint: a pass file holds imports, functions and constants 'NAME = value'
import torch
print('hello')
def pattern(x):
    return torch.relu(x)

def replacement_args(x):
    return (x,)

def plan(x):
    return x

def replacement_func():
    return plan
