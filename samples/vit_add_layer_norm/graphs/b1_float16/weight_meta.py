class Program_weight_tensor_meta_L_self_modules_blocks_modules_0_modules_norm2_parameters_bias_:
    name = "w_0"
    original_name = "L_self_modules_blocks_modules_0_modules_norm2_parameters_bias_"
    shape = [192]
    dtype = "torch.float16"
    device = "cpu"
    mean = -0.00206505259
    std = 0.19984946
    data = None


class Program_weight_tensor_meta_L_self_modules_blocks_modules_0_modules_norm2_parameters_weight_:
    name = "w_1"
    original_name = "L_self_modules_blocks_modules_0_modules_norm2_parameters_weight_"
    shape = [192]
    dtype = "torch.float16"
    device = "cpu"
    mean = 0.988334656
    std = 0.186716292
    data = None


class Program_weight_tensor_meta_x_4:
    name = "in_0"
    original_name = "x_4"
    shape = [1, 197, 192]
    dtype = "torch.float16"
    device = "cpu"
    mean = -0.000642873303
    std = 0.578192115
    data = None


class Program_weight_tensor_meta_x_8:
    name = "in_1"
    original_name = "x_8"
    shape = [1, 197, 192]
    dtype = "torch.float16"
    device = "cpu"
    mean = -0.00605903973
    std = 0.200637998
    data = None
