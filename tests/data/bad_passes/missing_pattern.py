#: FILE: error: function 'pattern' is missing: found plan, replacement_args, replacement_func
#: hint: a pass has pattern, replacement_args, replacement_func and a plan; add 'def pattern(x): …'
def replacement_args(x):
    return (x,)

def plan(x):
    return x

def replacement_func():
    return plan
