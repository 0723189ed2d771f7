class Program_weight_tensor_meta_mask:
    name = "in_0"
    original_name = "mask"
    shape = [2, 1, 100, 100]
    dtype = "torch.float32"
    device = "cpu"
    mean = -49.5
    std = 49.9987


class Program_weight_tensor_meta_matmul:
    name = "in_1"
    original_name = "matmul"
    shape = [2, 9, 100, 100]
    dtype = "torch.float32"
    device = "cpu"
    mean = 0.000217896
    std = 1.89138
