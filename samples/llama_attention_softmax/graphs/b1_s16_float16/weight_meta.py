class Program_weight_tensor_meta_mask:
    name = "in_0"
    original_name = "mask"
    shape = [1, 1, 16, 16]
    dtype = "torch.float16"
    device = "cpu"
    mean = -46.875
    std = 50
    data = None


class Program_weight_tensor_meta_matmul:
    name = "in_1"
    original_name = "matmul"
    shape = [1, 9, 16, 16]
    dtype = "torch.float16"
    device = "cpu"
    mean = 0.024901198
    std = 1.96521232
    data = None
