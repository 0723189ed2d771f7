class Program_weight_tensor_meta_L_self_modules_layers_modules_2_modules_blocks_modules_1_modules_norm2_parameters_bias_:
    name = "w_0"
    original_name = "L_self_modules_layers_modules_2_modules_blocks_modules_1_modules_norm2_parameters_bias_"
    shape = [384]
    dtype = "torch.float16"
    device = "cpu"
    mean = 0.00401057551
    std = 0.199268285
    data = None


class Program_weight_tensor_meta_L_self_modules_layers_modules_2_modules_blocks_modules_1_modules_norm2_parameters_weight_:
    name = "w_1"
    original_name = "L_self_modules_layers_modules_2_modules_blocks_modules_1_modules_norm2_parameters_weight_"
    shape = [384]
    dtype = "torch.float16"
    device = "cpu"
    mean = 1.00310071
    std = 0.196725986
    data = None


class Program_weight_tensor_meta_x_92:
    name = "in_0"
    original_name = "x_92"
    shape = [1, 14, 14, 384]
    dtype = "torch.float16"
    device = "cpu"
    mean = 0.011590754
    std = 0.724520645
    data = None


class Program_weight_tensor_meta_x_97:
    name = "in_1"
    original_name = "x_97"
    shape = [4, 49, 384]
    dtype = "torch.float16"
    device = "cpu"
    mean = -0.00955384239
    std = 0.262197963
    data = None
