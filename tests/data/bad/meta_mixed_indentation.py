# meta_mixed_indentation.py:6:5: error: unexpected indentation: found column 5, expected 9
class Program_weight_tensor_meta_x:
	name = "x"
	shape = [2, 2]
	dtype = "torch.float32"
    mean = 0.0
