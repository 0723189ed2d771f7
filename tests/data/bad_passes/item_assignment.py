#: FILE:11:5: error: outside the plan language: found an assignment to an item
#: hint: lists and tensors do not change in a plan; make a new one, as in shape[:1] + (n,) + shape[2:]
def pattern(x):
    return torch.relu(x)

def replacement_args(x):
    return (x,)

def plan(x):
    shape = list(x.shape)
    shape[0] = 1
    return torch.empty(shape)

def replacement_func():
    return plan
