# meta_method.py:3:2: error: unknown attribute 'def', expected one of name, original_name, shape, dtype, device, mean, std, data, min_val, max_val
class Program_weight_tensor_meta_x:
	def f(self): pass
