class Program_weight_tensor_meta_input_38:
    name = "in_0"
    original_name = "input_38"
    shape = [1, 240, 14, 14]
    dtype = "torch.bfloat16"
    device = "cpu"
    mean = -0.000379993709
    std = 0.0523496731
    data = None


class Program_weight_tensor_meta_L_self_modules_features_modules_5_modules_block_modules_1_modules_1_buffers_running_mean_:
    name = "w_0"
    original_name = "L_self_modules_features_modules_5_modules_block_modules_1_modules_1_buffers_running_mean_"
    shape = [240]
    dtype = "torch.bfloat16"
    device = "cpu"
    mean = -0.000408518314
    std = 0.0172979925
    data = None


class Program_weight_tensor_meta_L_self_modules_features_modules_5_modules_block_modules_1_modules_1_buffers_running_var_:
    name = "w_1"
    original_name = "L_self_modules_features_modules_5_modules_block_modules_1_modules_1_buffers_running_var_"
    shape = [240]
    dtype = "torch.bfloat16"
    device = "cpu"
    mean = 0.00256800652
    std = 0.00162909912
    data = None
    min_val = 0


class Program_weight_tensor_meta_L_self_modules_features_modules_5_modules_block_modules_1_modules_1_parameters_bias_:
    name = "w_2"
    original_name = "L_self_modules_features_modules_5_modules_block_modules_1_modules_1_parameters_bias_"
    shape = [240]
    dtype = "torch.bfloat16"
    device = "cpu"
    mean = 0.00642925898
    std = 0.196776837
    data = None


class Program_weight_tensor_meta_L_self_modules_features_modules_5_modules_block_modules_1_modules_1_parameters_weight_:
    name = "w_3"
    original_name = "L_self_modules_features_modules_5_modules_block_modules_1_modules_1_parameters_weight_"
    shape = [240]
    dtype = "torch.bfloat16"
    device = "cpu"
    mean = 1.0086263
    std = 0.20671192
    data = None
