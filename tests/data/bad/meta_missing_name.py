# meta_missing_name.py:2:7: error: class 'Program_weight_tensor_meta_x' has no attribute 'name'
class Program_weight_tensor_meta_x:
	shape = []
	dtype = "torch.float32"
