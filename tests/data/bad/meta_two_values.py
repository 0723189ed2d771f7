# meta_two_values.py:6:13: error: expected the end of the line, found '1.0'
class Program_weight_tensor_meta_x:
	name = "x"
	shape = [2, 2]
	dtype = "torch.float32"
	mean = 0.0 1.0
