#: FILE:11:5: error: kernel name 'kernel' is also a variable
#: hint: 'name[grid](…)' launches the kernel 'name'; give the variable another name
def pattern(x):
    return torch.relu(x)

def replacement_args(x):
    return (x,)

def plan(x):
    kernel = 3
    kernel[(1,)](x)
    return x

def replacement_func():
    return plan
