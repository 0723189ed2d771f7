# meta_float_in_int_data.py:6:13: error: found the float 2.5 in data, expected values of dtype torch.int64
class Program_weight_tensor_meta_x:
	name = "x"
	shape = [2]
	dtype = "torch.int64"
	data = [1, 2.5]
