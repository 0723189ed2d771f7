#: FILE:10:7: error: indentation does not fit: found 6 columns, expected 4
def pattern(x):
    return torch.relu(x)

def replacement_args(x):
    return (x,)

def plan(x):
    n = 1
      m = 2
    return x

def replacement_func():
    return plan
