class Program_weight_tensor_meta_x_42:
    name = "in_0"
    original_name = "x_42"
    shape = [1, 240, 28, 28]
    dtype = "torch.float16"
    device = "cpu"
    mean = 0.205931
    std = 0.585589


class Program_weight_tensor_meta_x_se_19:
    name = "in_1"
    original_name = "x_se_19"
    shape = [1, 240, 1, 1]
    dtype = "torch.float16"
    device = "cpu"
    mean = -0.00830772
    std = 0.284684
