class Program_weight_tensor_meta_input_38:
    name = "in_0"
    original_name = "input_38"
    shape = [2, 240, 14, 14]
    dtype = "torch.float16"
    device = "cpu"
    mean = -0.000350353
    std = 0.0527804


class Program_weight_tensor_meta_l_self_modules_features_modules_5_modules_block_modules_1_modules_1_buffers_running_mean_:
    name = "w_0"
    original_name = "l_self_modules_features_modules_5_modules_block_modules_1_modules_1_buffers_running_mean_"
    shape = [240]
    dtype = "torch.float16"
    device = "cpu"
    mean = -0.000352489
    std = 0.0172181


class Program_weight_tensor_meta_l_self_modules_features_modules_5_modules_block_modules_1_modules_1_buffers_running_var_:
    name = "w_1"
    original_name = "l_self_modules_features_modules_5_modules_block_modules_1_modules_1_buffers_running_var_"
    shape = [240]
    dtype = "torch.float16"
    device = "cpu"
    mean = 0.00253435
    std = 0.00157677
    min_val = 0


class Program_weight_tensor_meta_l_self_modules_features_modules_5_modules_block_modules_1_modules_1_parameters_bias_:
    name = "w_2"
    original_name = "l_self_modules_features_modules_5_modules_block_modules_1_modules_1_parameters_bias_"
    shape = [240]
    dtype = "torch.float16"
    device = "cpu"
    mean = 0.00644885
    std = 0.19678


class Program_weight_tensor_meta_l_self_modules_features_modules_5_modules_block_modules_1_modules_1_parameters_weight_:
    name = "w_3"
    original_name = "l_self_modules_features_modules_5_modules_block_modules_1_modules_1_parameters_weight_"
    shape = [240]
    dtype = "torch.float16"
    device = "cpu"
    mean = 1.0086
    std = 0.206642
