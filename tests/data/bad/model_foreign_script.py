# model_foreign_script.py:4:1: error: expected an import or 'class GraphModule(torch.nn.Module)', found 'print'
# hint: a graph file holds imports and one 'class GraphModule(torch.nn.Module)' with 'forward'
import os
print(os.getcwd())
