# meta_dtype_not_a_string.py:5:10: error: expected a string, found 'torch'
class Program_weight_tensor_meta_x:
	name = "x"
	shape = [2]
	dtype = torch.float32
