# model_lone_semicolon.py:3:14: error: expected an import or 'class GraphModule(torch.nn.Module)', found ';'
# hint: a graph file holds imports and one 'class GraphModule(torch.nn.Module)' with 'forward'
import torch;;
