class Program_weight_tensor_meta_l_self_modules_layers_modules_2_modules_blocks_modules_1_modules_norm2_parameters_bias_:
    name = "w_0"
    original_name = "l_self_modules_layers_modules_2_modules_blocks_modules_1_modules_norm2_parameters_bias_"
    shape = [384]
    dtype = "torch.float16"
    device = "cpu"
    mean = 0.00401058
    std = 0.199268


class Program_weight_tensor_meta_l_self_modules_layers_modules_2_modules_blocks_modules_1_modules_norm2_parameters_weight_:
    name = "w_1"
    original_name = "l_self_modules_layers_modules_2_modules_blocks_modules_1_modules_norm2_parameters_weight_"
    shape = [384]
    dtype = "torch.float16"
    device = "cpu"
    mean = 1.0031
    std = 0.196726


class Program_weight_tensor_meta_x_92:
    name = "in_0"
    original_name = "x_92"
    shape = [2, 14, 14, 384]
    dtype = "torch.float16"
    device = "cpu"
    mean = 0.0119923
    std = 0.724778


class Program_weight_tensor_meta_x_97:
    name = "in_1"
    original_name = "x_97"
    shape = [8, 49, 384]
    dtype = "torch.float16"
    device = "cpu"
    mean = -0.00920518
    std = 0.262533
