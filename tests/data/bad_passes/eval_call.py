#: FILE:10:12: error: unknown function 'eval'
#: hint: see docs/passes.md for what a plan may use
def pattern(x):
    return torch.relu(x)

def replacement_args(x):
    return (x,)

def plan(x):
    return eval('x')

def replacement_func():
    return plan
