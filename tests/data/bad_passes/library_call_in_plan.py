#: FILE:10:32: error: outside the plan language: found 'torch.nn.functional.relu()'
#: hint: see docs/passes.md for what a plan may use
def pattern(x):
    return torch.relu(x)

def replacement_args(x):
    return (x,)

def plan(x):
    return torch.nn.functional.relu(x)

def replacement_func():
    return plan
