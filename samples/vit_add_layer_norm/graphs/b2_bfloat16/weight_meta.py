class Program_weight_tensor_meta_l_self_modules_blocks_modules_0_modules_norm2_parameters_bias_:
    name = "w_0"
    original_name = "l_self_modules_blocks_modules_0_modules_norm2_parameters_bias_"
    shape = [192]
    dtype = "torch.bfloat16"
    device = "cpu"
    mean = -0.00208338
    std = 0.199877


class Program_weight_tensor_meta_l_self_modules_blocks_modules_0_modules_norm2_parameters_weight_:
    name = "w_1"
    original_name = "l_self_modules_blocks_modules_0_modules_norm2_parameters_weight_"
    shape = [192]
    dtype = "torch.bfloat16"
    device = "cpu"
    mean = 0.988546
    std = 0.186847


class Program_weight_tensor_meta_x_4:
    name = "in_0"
    original_name = "x_4"
    shape = [2, 197, 192]
    dtype = "torch.bfloat16"
    device = "cpu"
    mean = -0.00167148
    std = 0.576227


class Program_weight_tensor_meta_x_8:
    name = "in_1"
    original_name = "x_8"
    shape = [2, 197, 192]
    dtype = "torch.bfloat16"
    device = "cpu"
    mean = -0.00557396
    std = 0.200657
