class Program_weight_tensor_meta_L_self_modules_blocks_modules_0_modules_norm2_parameters_bias_:
    name = "w_0"
    original_name = "L_self_modules_blocks_modules_0_modules_norm2_parameters_bias_"
    shape = [192]
    dtype = "torch.bfloat16"
    device = "cpu"
    mean = -0.00208338102
    std = 0.199877364
    data = None


class Program_weight_tensor_meta_L_self_modules_blocks_modules_0_modules_norm2_parameters_weight_:
    name = "w_1"
    original_name = "L_self_modules_blocks_modules_0_modules_norm2_parameters_weight_"
    shape = [192]
    dtype = "torch.bfloat16"
    device = "cpu"
    mean = 0.988545736
    std = 0.186847422
    data = None


class Program_weight_tensor_meta_x_4:
    name = "in_0"
    original_name = "x_4"
    shape = [1, 197, 192]
    dtype = "torch.bfloat16"
    device = "cpu"
    mean = -0.000642944162
    std = 0.578173553
    data = None


class Program_weight_tensor_meta_x_8:
    name = "in_1"
    original_name = "x_8"
    shape = [1, 197, 192]
    dtype = "torch.bfloat16"
    device = "cpu"
    mean = -0.00604628552
    std = 0.200651268
    data = None
