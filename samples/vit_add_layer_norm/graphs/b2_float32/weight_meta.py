class Program_weight_tensor_meta_l_self_modules_blocks_modules_0_modules_norm2_parameters_bias_:
    name = "w_0"
    original_name = "l_self_modules_blocks_modules_0_modules_norm2_parameters_bias_"
    shape = [192]
    dtype = "torch.float32"
    device = "cpu"
    mean = -0.00206437
    std = 0.199858


class Program_weight_tensor_meta_l_self_modules_blocks_modules_0_modules_norm2_parameters_weight_:
    name = "w_1"
    original_name = "l_self_modules_blocks_modules_0_modules_norm2_parameters_weight_"
    shape = [192]
    dtype = "torch.float32"
    device = "cpu"
    mean = 0.988328
    std = 0.186741


class Program_weight_tensor_meta_x_4:
    name = "in_0"
    original_name = "x_4"
    shape = [2, 197, 192]
    dtype = "torch.float32"
    device = "cpu"
    mean = -0.00167949
    std = 0.576234


class Program_weight_tensor_meta_x_8:
    name = "in_1"
    original_name = "x_8"
    shape = [2, 197, 192]
    dtype = "torch.float32"
    device = "cpu"
    mean = -0.0055886
    std = 0.200658
