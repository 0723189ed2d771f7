#: FILE:10:5: error: expected ',' or ')', found 'return'
def pattern(x):
    return torch.relu(x)

def replacement_args(x):
    return (x,)

def plan(x):
    out = torch.empty((1, 2)
    return out

def replacement_func():
    return plan
