# meta_huge_shape.py:4:10: error: the shape has too many elements, expected at most 281474976710656
class Program_weight_tensor_meta_x:
	name = "x"
	shape = [4294967296, 4294967296]
	dtype = "torch.float32"
