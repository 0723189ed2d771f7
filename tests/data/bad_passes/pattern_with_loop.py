#: FILE:5:5: error: 'for' is not part of the graph language
#: hint: a graph is straight-line code: calls, operators, indexing, and one return
#: note: in the pattern, which is written in the graph language of model.py
def pattern(x):
    for i in range(3):
        x = torch.relu(x)
    return x

def replacement_args(x):
    return (x,)

def plan(x):
    return x

def replacement_func():
    return plan
