# meta_truncated_list.py:6:19: error: expected a number, found the end of the file
class Program_weight_tensor_meta_x:
	name = "x"
	shape = [2, 2]
	dtype = "torch.float32"
	data = [1.0, 2.0,