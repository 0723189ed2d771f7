# meta_class_twice.py:7:7: error: class 'Program_weight_tensor_meta_x' stands here a second time
class Program_weight_tensor_meta_x:
	name = "x"
	shape = [2, 2]
	dtype = "torch.float32"

class Program_weight_tensor_meta_x:
	name = "x"
	shape = [2, 2]
	dtype = "torch.float32"
