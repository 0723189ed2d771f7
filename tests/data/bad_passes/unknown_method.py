#: FILE:10:14: error: outside the plan language: found method 'reshap'
#: hint: did you mean 'reshape'?
def pattern(x):
    return torch.relu(x)

def replacement_args(x):
    return (x,)

def plan(x):
    return x.reshap(3)

def replacement_func():
    return plan
