#: FILE:13:12: error: replacement_func returns 'fused_rleu', which is not a function of this file
#: hint: did you mean 'fused_relu'?
def pattern(x):
    return torch.relu(x)

def replacement_args(x):
    return (x,)

def fused_relu(x):
    return x

def replacement_func():
    return fused_rleu
