# meta_unknown_attribute.py:7:2: error: unknown attribute 'meann', expected one of name, original_name, shape, dtype, device, mean, std, data, min_val, max_val
# hint: did you mean 'mean'?
class Program_weight_tensor_meta_x:
	name = "x"
	shape = [2, 2]
	dtype = "torch.float32"
	meann = 0.0
