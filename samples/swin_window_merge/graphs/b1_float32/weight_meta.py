class Program_weight_tensor_meta_l_self_modules_layers_modules_0_modules_blocks_modules_1_modules_norm2_parameters_bias_:
    name = "w_0"
    original_name = "l_self_modules_layers_modules_0_modules_blocks_modules_1_modules_norm2_parameters_bias_"
    shape = [96]
    dtype = "torch.float32"
    device = "cpu"
    mean = 0.0303418
    std = 0.212001


class Program_weight_tensor_meta_l_self_modules_layers_modules_0_modules_blocks_modules_1_modules_norm2_parameters_weight_:
    name = "w_1"
    original_name = "l_self_modules_layers_modules_0_modules_blocks_modules_1_modules_norm2_parameters_weight_"
    shape = [96]
    dtype = "torch.float32"
    device = "cpu"
    mean = 1.01846
    std = 0.197441


class Program_weight_tensor_meta_x_18:
    name = "in_0"
    original_name = "x_18"
    shape = [1, 56, 56, 96]
    dtype = "torch.float32"
    device = "cpu"
    mean = -0.0295245
    std = 1.08963


class Program_weight_tensor_meta_x_23:
    name = "in_1"
    original_name = "x_23"
    shape = [64, 49, 96]
    dtype = "torch.float32"
    device = "cpu"
    mean = 0.00534466
    std = 0.192979
