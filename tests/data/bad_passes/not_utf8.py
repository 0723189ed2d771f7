#: FILE:9:17: error: found byte 0xff, which is not valid UTF-8, expected Python source text
def pattern(x):
    return torch.relu(x)

def replacement_args(x):
    return (x,)

def plan(x):
    return x  # ÿ

def replacement_func():
    return plan
