#: FILE:10:5: error: expected an indented block, found 'return'
def pattern(x):
    return torch.relu(x)

def replacement_args(x):
    return (x,)

def plan(x):
    if x.ndim == 2:
    return x

def replacement_func():
    return plan
