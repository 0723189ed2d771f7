#: FILE:10:7: error: outside the plan language: found an assignment to an attribute
#: hint: assign to a plain name
def pattern(x):
    return torch.relu(x)

def replacement_args(x):
    return (x,)

def plan(x):
    x.shape = (1,)
    return x

def replacement_func():
    return plan
