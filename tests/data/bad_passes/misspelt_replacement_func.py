#: FILE:11:1: error: function 'replacement_func' is missing: found pattern, plan, replacement_args, replacment_func
#: hint: did you mean 'replacement_func' for 'replacment_func'?
def pattern(x):
    return torch.relu(x)

def replacement_args(x):
    return (x,)

def plan(x):
    return x
def replacment_func():
    return plan
