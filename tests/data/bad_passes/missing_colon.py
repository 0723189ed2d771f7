#: FILE:9:19: error: expected ':', found the end of the line
def pattern(x):
    return torch.relu(x)

def replacement_args(x):
    return (x,)

def plan(x):
    if x.ndim == 2
        return x
    return x

def replacement_func():
    return plan
