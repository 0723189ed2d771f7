# meta_float_size.py:4:11: error: found '2.0', expected a size: an int of 0 or more
class Program_weight_tensor_meta_x:
	name = "x"
	shape = [2.0]
	dtype = "torch.float32"
