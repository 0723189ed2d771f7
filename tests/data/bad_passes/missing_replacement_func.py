#: FILE: error: function 'replacement_func' is missing: found pattern, plan, replacement_args
#: hint: a pass has pattern, replacement_args, replacement_func and a plan; add 'def replacement_func(): return NAME'
def pattern(x):
    return torch.relu(x)

def replacement_args(x):
    return (x,)

def plan(x):
    return x
