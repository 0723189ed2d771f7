#: FILE:10:14: error: outside the plan language: found attribute 'data'
#: hint: tensors have .shape, .dtype, .device and .ndim
def pattern(x):
    return torch.relu(x)

def replacement_args(x):
    return (x,)

def plan(x):
    return x.data

def replacement_func():
    return plan
