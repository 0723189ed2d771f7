class Program_weight_tensor_meta_x_42:
    name = "in_0"
    original_name = "x_42"
    shape = [4, 240, 28, 28]
    dtype = "torch.float16"
    device = "cpu"
    mean = 0.206636
    std = 0.58785


class Program_weight_tensor_meta_x_se_19:
    name = "in_1"
    original_name = "x_se_19"
    shape = [4, 240, 1, 1]
    dtype = "torch.float16"
    device = "cpu"
    mean = -0.00823092
    std = 0.284849
