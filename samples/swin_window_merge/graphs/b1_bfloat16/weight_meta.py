class Program_weight_tensor_meta_L_self_modules_layers_modules_2_modules_blocks_modules_1_modules_norm2_parameters_bias_:
    name = "w_0"
    original_name = "L_self_modules_layers_modules_2_modules_blocks_modules_1_modules_norm2_parameters_bias_"
    shape = [384]
    dtype = "torch.bfloat16"
    device = "cpu"
    mean = 0.00400465727
    std = 0.199288725
    data = None


class Program_weight_tensor_meta_L_self_modules_layers_modules_2_modules_blocks_modules_1_modules_norm2_parameters_weight_:
    name = "w_1"
    original_name = "L_self_modules_layers_modules_2_modules_blocks_modules_1_modules_norm2_parameters_weight_"
    shape = [384]
    dtype = "torch.bfloat16"
    device = "cpu"
    mean = 1.0030365
    std = 0.19668306
    data = None


class Program_weight_tensor_meta_x_92:
    name = "in_0"
    original_name = "x_92"
    shape = [1, 14, 14, 384]
    dtype = "torch.bfloat16"
    device = "cpu"
    mean = 0.0116294239
    std = 0.724518655
    data = None


class Program_weight_tensor_meta_x_97:
    name = "in_1"
    original_name = "x_97"
    shape = [4, 49, 384]
    dtype = "torch.bfloat16"
    device = "cpu"
    mean = -0.00959534915
    std = 0.26214966
    data = None
