# meta_mean_is_a_string.py:6:9: error: expected a number, found a string
class Program_weight_tensor_meta_x:
	name = "x"
	shape = [2, 2]
	dtype = "torch.float32"
	mean = "0.5"
