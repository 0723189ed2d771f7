#: FILE:6:1: error: replacement_args takes 2 parameters, the pattern has 1
#: hint: give replacement_args the parameters of pattern, in the same order
def pattern(x):
    return torch.relu(x)

def replacement_args(x, y):
    return (x, y)

def plan(x, y):
    return x

def replacement_func():
    return plan
