# model_empty.py:3:1: error: expected an import or 'class GraphModule(torch.nn.Module)', found the end of the file
# hint: a graph file holds imports and one 'class GraphModule(torch.nn.Module)' with 'forward'
