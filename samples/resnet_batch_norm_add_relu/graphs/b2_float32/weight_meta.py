class Program_weight_tensor_meta_L_self_modules_layer3_modules_1_modules_bn2_buffers_running_mean_:
    name = "w_0"
    original_name = "L_self_modules_layer3_modules_1_modules_bn2_buffers_running_mean_"
    shape = [256]
    dtype = "torch.float32"
    device = "cpu"
    mean = -0.0225682008
    std = 0.584768816
    data = None


class Program_weight_tensor_meta_L_self_modules_layer3_modules_1_modules_bn2_buffers_running_var_:
    name = "w_1"
    original_name = "L_self_modules_layer3_modules_1_modules_bn2_buffers_running_var_"
    shape = [256]
    dtype = "torch.float32"
    device = "cpu"
    mean = 0.733870369
    std = 0.074631528
    data = None
    min_val = 0


class Program_weight_tensor_meta_L_self_modules_layer3_modules_1_modules_bn2_parameters_bias_:
    name = "w_2"
    original_name = "L_self_modules_layer3_modules_1_modules_bn2_parameters_bias_"
    shape = [256]
    dtype = "torch.float32"
    device = "cpu"
    mean = -0.00922240422
    std = 0.195992339
    data = None


class Program_weight_tensor_meta_L_self_modules_layer3_modules_1_modules_bn2_parameters_weight_:
    name = "w_3"
    original_name = "L_self_modules_layer3_modules_1_modules_bn2_parameters_weight_"
    shape = [256]
    dtype = "torch.float32"
    device = "cpu"
    mean = 0.999823685
    std = 0.199873077
    data = None


class Program_weight_tensor_meta_out_34:
    name = "in_0"
    original_name = "out_34"
    shape = [2, 256, 14, 14]
    dtype = "torch.float32"
    device = "cpu"
    mean = 0.567208108
    std = 0.855807871
    data = None


class Program_weight_tensor_meta_out_38:
    name = "in_1"
    original_name = "out_38"
    shape = [2, 256, 14, 14]
    dtype = "torch.float32"
    device = "cpu"
    mean = -0.022406754
    std = 1.03173166
    data = None
