# meta_negative_size.py:4:14: error: found '-1', expected a size: an int of 0 or more
class Program_weight_tensor_meta_x:
	name = "x"
	shape = [2, -1]
	dtype = "torch.float32"
