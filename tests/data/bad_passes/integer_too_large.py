#: FILE:9:9: error: integer '9223372036854775808' (19 digits) is out of range, expected -2**63 to 2**63 - 1
def pattern(x):
    return torch.relu(x)

def replacement_args(x):
    return (x,)

def plan(x):
    n = 9223372036854775808
    return x

def replacement_func():
    return plan
