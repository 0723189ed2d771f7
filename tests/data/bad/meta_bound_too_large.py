# meta_bound_too_large.py:6:12: error: found 9007199254740993, expected a magnitude of at most 2**53
class Program_weight_tensor_meta_x:
	name = "x"
	shape = [1]
	dtype = "torch.int64"
	max_val = 9007199254740993
