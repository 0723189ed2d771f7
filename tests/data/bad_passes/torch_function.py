#: FILE:10:18: error: outside the plan language: found 'torch.softmax()'
#: hint: see docs/passes.md for what a plan may use
def pattern(x):
    return torch.relu(x)

def replacement_args(x):
    return (x,)

def plan(x):
    return torch.softmax(x, -1)

def replacement_func():
    return plan
