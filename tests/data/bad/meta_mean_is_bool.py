# meta_mean_is_bool.py:6:9: error: found a bool, expected a number or None
class Program_weight_tensor_meta_x:
	name = "x"
	shape = [2, 2]
	dtype = "torch.float32"
	mean = True
