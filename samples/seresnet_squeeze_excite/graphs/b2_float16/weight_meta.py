class Program_weight_tensor_meta_x_124:
    name = "in_0"
    original_name = "x_124"
    shape = [2, 1024, 14, 14]
    dtype = "torch.float16"
    device = "cpu"
    mean = 0.480822
    std = 0.610098


class Program_weight_tensor_meta_x_132:
    name = "in_1"
    original_name = "x_132"
    shape = [2, 1024, 14, 14]
    dtype = "torch.float16"
    device = "cpu"
    mean = 0.00988973
    std = 0.286729


class Program_weight_tensor_meta_x_se_47:
    name = "in_2"
    original_name = "x_se_47"
    shape = [2, 1024, 1, 1]
    dtype = "torch.float16"
    device = "cpu"
    mean = 0.00960133
    std = 0.296694
