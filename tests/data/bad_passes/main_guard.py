#: FILE:15:1: error: outside the plan language: found 'if' at the top level
#: hint: a pass file holds imports, functions and constants 'NAME = value'
def pattern(x):
    return torch.relu(x)

def replacement_args(x):
    return (x,)

def plan(x):
    return x

def replacement_func():
    return plan

if __name__ == '__main__':
    pass
