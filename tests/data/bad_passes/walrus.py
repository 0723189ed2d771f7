#: FILE:9:11: error: expected ',' or ')', found ':='
def pattern(x):
    return torch.relu(x)

def replacement_args(x):
    return (x,)

def plan(x):
    if (n := x.numel()) > 3:
        return x
    return NotImplemented

def replacement_func():
    return plan
