class Program_weight_tensor_meta_mask:
    name = "in_0"
    original_name = "mask"
    shape = [1, 1, 16, 16]
    dtype = "torch.bfloat16"
    device = "cpu"
    mean = -46.875
    std = 50
    data = None


class Program_weight_tensor_meta_matmul:
    name = "in_1"
    original_name = "matmul"
    shape = [1, 9, 16, 16]
    dtype = "torch.bfloat16"
    device = "cpu"
    mean = 0.024669374
    std = 1.96516408
    data = None
