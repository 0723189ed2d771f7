class Program_weight_tensor_meta_L_self_modules_blocks_modules_0_modules_norm2_parameters_bias_:
    name = "w_0"
    original_name = "L_self_modules_blocks_modules_0_modules_norm2_parameters_bias_"
    shape = [192]
    dtype = "torch.float32"
    device = "cpu"
    mean = -0.00206437471
    std = 0.199857788
    data = None


class Program_weight_tensor_meta_L_self_modules_blocks_modules_0_modules_norm2_parameters_weight_:
    name = "w_1"
    original_name = "L_self_modules_blocks_modules_0_modules_norm2_parameters_weight_"
    shape = [192]
    dtype = "torch.float32"
    device = "cpu"
    mean = 0.988327696
    std = 0.1867405
    data = None


class Program_weight_tensor_meta_x_4:
    name = "in_0"
    original_name = "x_4"
    shape = [1, 197, 192]
    dtype = "torch.float32"
    device = "cpu"
    mean = -0.000643425895
    std = 0.578195168
    data = None


class Program_weight_tensor_meta_x_8:
    name = "in_1"
    original_name = "x_8"
    shape = [1, 197, 192]
    dtype = "torch.float32"
    device = "cpu"
    mean = -0.00606030843
    std = 0.200639125
    data = None
