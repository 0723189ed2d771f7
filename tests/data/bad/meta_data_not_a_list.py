# meta_data_not_a_list.py:6:9: error: expected a list or None, found '1.0'
class Program_weight_tensor_meta_x:
	name = "x"
	shape = [2, 2]
	dtype = "torch.float32"
	data = 1.0
