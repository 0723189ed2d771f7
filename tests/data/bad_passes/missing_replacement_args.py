#: FILE: error: function 'replacement_args' is missing: found pattern, plan, replacement_func
#: hint: a pass has pattern, replacement_args, replacement_func and a plan; add 'def replacement_args(x): return (x,)'
def pattern(x):
    return torch.relu(x)

def plan(x):
    return x

def replacement_func():
    return plan
