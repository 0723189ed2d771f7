# meta_complex_data.py:6:9: error: data of dtype torch.complex64 cannot be read
class Program_weight_tensor_meta_x:
	name = "x"
	shape = [1]
	dtype = "torch.complex64"
	data = [1]
