class Program_weight_tensor_meta_input_38:
    name = "in_0"
    original_name = "input_38"
    shape = [2, 240, 14, 14]
    dtype = "torch.float32"
    device = "cpu"
    mean = -0.000350744
    std = 0.0527642


class Program_weight_tensor_meta_l_self_modules_features_modules_5_modules_block_modules_1_modules_1_buffers_running_mean_:
    name = "w_0"
    original_name = "l_self_modules_features_modules_5_modules_block_modules_1_modules_1_buffers_running_mean_"
    shape = [240]
    dtype = "torch.float32"
    device = "cpu"
    mean = -0.000352411
    std = 0.0172178


class Program_weight_tensor_meta_l_self_modules_features_modules_5_modules_block_modules_1_modules_1_buffers_running_var_:
    name = "w_1"
    original_name = "l_self_modules_features_modules_5_modules_block_modules_1_modules_1_buffers_running_var_"
    shape = [240]
    dtype = "torch.float32"
    device = "cpu"
    mean = 0.00253436
    std = 0.00157676
    min_val = 0


class Program_weight_tensor_meta_l_self_modules_features_modules_5_modules_block_modules_1_modules_1_parameters_bias_:
    name = "w_2"
    original_name = "l_self_modules_features_modules_5_modules_block_modules_1_modules_1_parameters_bias_"
    shape = [240]
    dtype = "torch.float32"
    device = "cpu"
    mean = 0.00644215
    std = 0.196779


class Program_weight_tensor_meta_l_self_modules_features_modules_5_modules_block_modules_1_modules_1_parameters_weight_:
    name = "w_3"
    original_name = "l_self_modules_features_modules_5_modules_block_modules_1_modules_1_parameters_weight_"
    shape = [240]
    dtype = "torch.float32"
    device = "cpu"
    mean = 1.00861
    std = 0.206634
