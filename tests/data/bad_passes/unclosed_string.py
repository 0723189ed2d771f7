#: FILE:9:25: error: the string that begins here has no closing '
def pattern(x):
    return torch.relu(x)

def replacement_args(x):
    return (x,)

def plan(x):
    assert x.ndim == 2, 'two
    return x

def replacement_func():
    return plan
