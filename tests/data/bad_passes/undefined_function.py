#: FILE:10:9: error: unknown function 'cdvi'
#: hint: see docs/passes.md for what a plan may use
def pattern(x):
    return torch.relu(x)

def replacement_args(x):
    return (x,)

def plan(x):
    n = cdvi(x.numel(), 4)
    return x

def replacement_func():
    return plan
