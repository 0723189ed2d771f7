# meta_truncated.py:5:10: error: the string that begins here has no closing "
class Program_weight_tensor_meta_x:
	name = "x"
	shape = [2, 2]
	dtype = "torch.flo