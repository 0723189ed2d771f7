class Program_weight_tensor_meta_l_self_modules_layers_modules_0_modules_blocks_modules_1_modules_norm2_parameters_bias_:
    name = "w_0"
    original_name = "l_self_modules_layers_modules_0_modules_blocks_modules_1_modules_norm2_parameters_bias_"
    shape = [96]
    dtype = "torch.bfloat16"
    device = "cpu"
    mean = 0.0303524
    std = 0.212134


class Program_weight_tensor_meta_l_self_modules_layers_modules_0_modules_blocks_modules_1_modules_norm2_parameters_weight_:
    name = "w_1"
    original_name = "l_self_modules_layers_modules_0_modules_blocks_modules_1_modules_norm2_parameters_weight_"
    shape = [96]
    dtype = "torch.bfloat16"
    device = "cpu"
    mean = 1.01835
    std = 0.197418


class Program_weight_tensor_meta_x_18:
    name = "in_0"
    original_name = "x_18"
    shape = [1, 56, 56, 96]
    dtype = "torch.bfloat16"
    device = "cpu"
    mean = -0.029465
    std = 1.08972


class Program_weight_tensor_meta_x_23:
    name = "in_1"
    original_name = "x_23"
    shape = [64, 49, 96]
    dtype = "torch.bfloat16"
    device = "cpu"
    mean = 0.0053343
    std = 0.193072
