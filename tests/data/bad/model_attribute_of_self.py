# model_attribute_of_self.py:7:19: error: found 'self.bias', but graphs hold no attributes
# hint: make parameters, buffers and submodules' weights arguments of forward
import torch

class GraphModule(torch.nn.Module):
    def forward(self, a, b):
        add = a + self.bias
        return (add,)
