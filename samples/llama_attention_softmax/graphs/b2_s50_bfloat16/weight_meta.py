class Program_weight_tensor_meta_mask:
    name = "in_0"
    original_name = "mask"
    shape = [2, 1, 50, 50]
    dtype = "torch.bfloat16"
    device = "cpu"
    mean = -49
    std = 49.9949987
    data = None


class Program_weight_tensor_meta_matmul:
    name = "in_1"
    original_name = "matmul"
    shape = [2, 9, 50, 50]
    dtype = "torch.bfloat16"
    device = "cpu"
    mean = -0.0168453944
    std = 1.89808729
    data = None
