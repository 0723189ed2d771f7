class Program_weight_tensor_meta_mask:
    name = "in_0"
    original_name = "mask"
    shape = [1, 1, 64, 64]
    dtype = "torch.float16"
    device = "cpu"
    mean = -49.2188
    std = 50


class Program_weight_tensor_meta_matmul:
    name = "in_1"
    original_name = "matmul"
    shape = [1, 9, 64, 64]
    dtype = "torch.float16"
    device = "cpu"
    mean = -0.00668951
    std = 1.91959
