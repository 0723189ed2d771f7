# meta_shape_not_a_list.py:4:10: error: expected a list of sizes, found '2'
class Program_weight_tensor_meta_x:
	name = "x"
	shape = 2
	dtype = "torch.float32"
