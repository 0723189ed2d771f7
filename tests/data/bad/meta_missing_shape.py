# meta_missing_shape.py:2:7: error: class 'Program_weight_tensor_meta_x' has no attribute 'shape'
class Program_weight_tensor_meta_x:
	name = "x"
	dtype = "torch.float32"
