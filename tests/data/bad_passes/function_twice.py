#: FILE:14:5: error: function 'plan' is defined twice
def pattern(x):
    return torch.relu(x)

def replacement_args(x):
    return (x,)

def plan(x):
    return x

def replacement_func():
    return plan

def plan(x):
    return x
