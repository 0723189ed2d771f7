class Program_weight_tensor_meta_L_self_modules_layers_modules_2_modules_blocks_modules_1_modules_norm2_parameters_bias_:
    name = "w_0"
    original_name = "L_self_modules_layers_modules_2_modules_blocks_modules_1_modules_norm2_parameters_bias_"
    shape = [384]
    dtype = "torch.float32"
    device = "cpu"
    mean = 0.00400812745
    std = 0.199270124
    data = None


class Program_weight_tensor_meta_L_self_modules_layers_modules_2_modules_blocks_modules_1_modules_norm2_parameters_weight_:
    name = "w_1"
    original_name = "L_self_modules_layers_modules_2_modules_blocks_modules_1_modules_norm2_parameters_weight_"
    shape = [384]
    dtype = "torch.float32"
    device = "cpu"
    mean = 1.00308771
    std = 0.196706279
    data = None


class Program_weight_tensor_meta_x_92:
    name = "in_0"
    original_name = "x_92"
    shape = [2, 14, 14, 384]
    dtype = "torch.float32"
    device = "cpu"
    mean = 0.0119912817
    std = 0.724783495
    data = None


class Program_weight_tensor_meta_x_97:
    name = "in_1"
    original_name = "x_97"
    shape = [8, 49, 384]
    dtype = "torch.float32"
    device = "cpu"
    mean = -0.00920434794
    std = 0.262523201
    data = None
