#: FILE:10:14: error: outside the plan language: found '@'
#: hint: a plan has assignments, if/elif/else, for over range, zip, enumerate or a list, assert, raise, return, kernel launches, torch.empty and its kin, sizes and numbers; see docs/passes.md
def pattern(x):
    return torch.relu(x)

def replacement_args(x):
    return (x,)

def plan(x):
    return x @ x

def replacement_func():
    return plan
