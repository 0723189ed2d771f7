# meta_mean_is_an_unknown_float.py:6:9: error: expected a number, found 'float'
class Program_weight_tensor_meta_x:
	name = "x"
	shape = [2, 2]
	dtype = "torch.float32"
	mean = float("huge")
