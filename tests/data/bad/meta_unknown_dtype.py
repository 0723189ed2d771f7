# meta_unknown_dtype.py:6:10: error: unknown dtype 'torch.float31', expected one of torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.int8, torch.int16, torch.int32, torch.int64, torch.uint8, torch.bool, torch.complex64, torch.complex128
# hint: did you mean 'torch.float32'?
class Program_weight_tensor_meta_x:
	name = "x"
	shape = [2]
	dtype = "torch.float31"
