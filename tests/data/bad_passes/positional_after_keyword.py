#: FILE:9:23: error: positional argument after a keyword argument
def pattern(x):
    return torch.relu(x)

def replacement_args(x):
    return (x,)

def plan(x):
    kernel[(1,)](N=3, x)
    return x

def replacement_func():
    return plan
