#: FILE:15:1: error: expected a function after the decorator, found the end of the file
def pattern(x):
    return torch.relu(x)

def replacement_args(x):
    return (x,)

def plan(x):
    return x

def replacement_func():
    return plan

@torch.fx.wrap
