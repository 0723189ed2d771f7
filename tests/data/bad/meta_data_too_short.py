# meta_data_too_short.py:6:9: error: data holds 3 values, expected 4 for shape [2, 2]
class Program_weight_tensor_meta_x:
	name = "x"
	shape = [2, 2]
	dtype = "torch.float32"
	data = [1.0, 2.0, 3.0]
