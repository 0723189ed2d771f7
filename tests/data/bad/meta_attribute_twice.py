# meta_attribute_twice.py:6:2: error: attribute 'name' is given twice
class Program_weight_tensor_meta_x:
	name = "x"
	shape = [2, 2]
	dtype = "torch.float32"
	name = "y"
