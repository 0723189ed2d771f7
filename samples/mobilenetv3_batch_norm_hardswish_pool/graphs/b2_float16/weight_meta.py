class Program_weight_tensor_meta_input_38:
    name = "in_0"
    original_name = "input_38"
    shape = [2, 240, 14, 14]
    dtype = "torch.float16"
    device = "cpu"
    mean = -0.000350367266
    std = 0.0527794867
    data = None


class Program_weight_tensor_meta_L_self_modules_features_modules_5_modules_block_modules_1_modules_1_buffers_running_mean_:
    name = "w_0"
    original_name = "L_self_modules_features_modules_5_modules_block_modules_1_modules_1_buffers_running_mean_"
    shape = [240]
    dtype = "torch.float16"
    device = "cpu"
    mean = -0.000352488707
    std = 0.0172181169
    data = None


class Program_weight_tensor_meta_L_self_modules_features_modules_5_modules_block_modules_1_modules_1_buffers_running_var_:
    name = "w_1"
    original_name = "L_self_modules_features_modules_5_modules_block_modules_1_modules_1_buffers_running_var_"
    shape = [240]
    dtype = "torch.float16"
    device = "cpu"
    mean = 0.00253434529
    std = 0.00157677314
    data = None
    min_val = 0


class Program_weight_tensor_meta_L_self_modules_features_modules_5_modules_block_modules_1_modules_1_parameters_bias_:
    name = "w_2"
    original_name = "L_self_modules_features_modules_5_modules_block_modules_1_modules_1_parameters_bias_"
    shape = [240]
    dtype = "torch.float16"
    device = "cpu"
    mean = 0.00644884904
    std = 0.196779835
    data = None


class Program_weight_tensor_meta_L_self_modules_features_modules_5_modules_block_modules_1_modules_1_parameters_weight_:
    name = "w_3"
    original_name = "L_self_modules_features_modules_5_modules_block_modules_1_modules_1_parameters_weight_"
    shape = [240]
    dtype = "torch.float16"
    device = "cpu"
    mean = 1.00860189
    std = 0.206641589
    data = None
