#: FILE:13:5: error: replacement_func does not return the name of a function
#: hint: write 'def replacement_func():' and 'return NAME', the function that launches the kernels
def pattern(x):
    return torch.relu(x)

def replacement_args(x):
    return (x,)

def plan(x):
    return x

def replacement_func():
    return plan()
