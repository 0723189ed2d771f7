#: FILE:11:24: error: name 'numel' is not defined
#: hint: see docs/passes.md for what a plan may use
def pattern(x):
    return torch.relu(x)

def replacement_args(x):
    return (x,)

def plan(x):
    n = x.numel()
    return torch.empty(numel)

def replacement_func():
    return plan
