class Program_weight_tensor_meta_input_38:
    name = "in_0"
    original_name = "input_38"
    shape = [2, 240, 14, 14]
    dtype = "torch.float32"
    device = "cpu"
    mean = -0.00035074387
    std = 0.05276419
    data = None


class Program_weight_tensor_meta_L_self_modules_features_modules_5_modules_block_modules_1_modules_1_buffers_running_mean_:
    name = "w_0"
    original_name = "L_self_modules_features_modules_5_modules_block_modules_1_modules_1_buffers_running_mean_"
    shape = [240]
    dtype = "torch.float32"
    device = "cpu"
    mean = -0.000352410922
    std = 0.0172178217
    data = None


class Program_weight_tensor_meta_L_self_modules_features_modules_5_modules_block_modules_1_modules_1_buffers_running_var_:
    name = "w_1"
    original_name = "L_self_modules_features_modules_5_modules_block_modules_1_modules_1_buffers_running_var_"
    shape = [240]
    dtype = "torch.float32"
    device = "cpu"
    mean = 0.00253435671
    std = 0.00157675933
    data = None
    min_val = 0


class Program_weight_tensor_meta_L_self_modules_features_modules_5_modules_block_modules_1_modules_1_parameters_bias_:
    name = "w_2"
    original_name = "L_self_modules_features_modules_5_modules_block_modules_1_modules_1_parameters_bias_"
    shape = [240]
    dtype = "torch.float32"
    device = "cpu"
    mean = 0.00644215275
    std = 0.196779499
    data = None


class Program_weight_tensor_meta_L_self_modules_features_modules_5_modules_block_modules_1_modules_1_parameters_weight_:
    name = "w_3"
    original_name = "L_self_modules_features_modules_5_modules_block_modules_1_modules_1_parameters_weight_"
    shape = [240]
    dtype = "torch.float32"
    device = "cpu"
    mean = 1.00861203
    std = 0.206633891
    data = None
