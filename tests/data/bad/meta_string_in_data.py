# meta_string_in_data.py:6:15: error: expected a number, found a string
class Program_weight_tensor_meta_x:
	name = "x"
	shape = [2, 2]
	dtype = "torch.float32"
	data = [1.0, "2", 3.0, 4.0]
