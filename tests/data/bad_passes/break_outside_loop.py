#: FILE:9:5: error: 'break' outside a loop
def pattern(x):
    return torch.relu(x)

def replacement_args(x):
    return (x,)

def plan(x):
    break
    return x

def replacement_func():
    return plan
