class Program_weight_tensor_meta_l_self_modules_layers_modules_2_modules_blocks_modules_1_modules_norm2_parameters_bias_:
    name = "w_0"
    original_name = "l_self_modules_layers_modules_2_modules_blocks_modules_1_modules_norm2_parameters_bias_"
    shape = [384]
    dtype = "torch.bfloat16"
    device = "cpu"
    mean = 0.00400466
    std = 0.199289


class Program_weight_tensor_meta_l_self_modules_layers_modules_2_modules_blocks_modules_1_modules_norm2_parameters_weight_:
    name = "w_1"
    original_name = "l_self_modules_layers_modules_2_modules_blocks_modules_1_modules_norm2_parameters_weight_"
    shape = [384]
    dtype = "torch.bfloat16"
    device = "cpu"
    mean = 1.00304
    std = 0.196683


class Program_weight_tensor_meta_x_92:
    name = "in_0"
    original_name = "x_92"
    shape = [1, 14, 14, 384]
    dtype = "torch.bfloat16"
    device = "cpu"
    mean = 0.0116174
    std = 0.724506


class Program_weight_tensor_meta_x_97:
    name = "in_1"
    original_name = "x_97"
    shape = [4, 49, 384]
    dtype = "torch.bfloat16"
    device = "cpu"
    mean = -0.00959548
    std = 0.262142
