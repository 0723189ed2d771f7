# meta_missing_dtype.py:2:7: error: class 'Program_weight_tensor_meta_x' has no attribute 'dtype'
class Program_weight_tensor_meta_x:
	name = "x"
	shape = [1]
	device = "cpu"
