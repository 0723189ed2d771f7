class Program_weight_tensor_meta_x_61:
    name = "in_0"
    original_name = "x_61"
    shape = [2, 480, 14, 14]
    dtype = "torch.bfloat16"
    device = "cpu"
    mean = 0.207157
    std = 0.597953


class Program_weight_tensor_meta_x_se_27:
    name = "in_1"
    original_name = "x_se_27"
    shape = [2, 480, 1, 1]
    dtype = "torch.bfloat16"
    device = "cpu"
    mean = -0.00446012
    std = 0.36275
