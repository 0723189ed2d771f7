class Program_weight_tensor_meta_L_self_modules_layer3_modules_1_modules_bn2_buffers_running_mean_:
    name = "w_0"
    original_name = "L_self_modules_layer3_modules_1_modules_bn2_buffers_running_mean_"
    shape = [256]
    dtype = "torch.bfloat16"
    device = "cpu"
    mean = -0.0228670102
    std = 0.585696389
    data = None


class Program_weight_tensor_meta_L_self_modules_layer3_modules_1_modules_bn2_buffers_running_var_:
    name = "w_1"
    original_name = "L_self_modules_layer3_modules_1_modules_bn2_buffers_running_var_"
    shape = [256]
    dtype = "torch.bfloat16"
    device = "cpu"
    mean = 0.730163574
    std = 0.0938126697
    data = None
    min_val = 0


class Program_weight_tensor_meta_L_self_modules_layer3_modules_1_modules_bn2_parameters_bias_:
    name = "w_2"
    original_name = "L_self_modules_layer3_modules_1_modules_bn2_parameters_bias_"
    shape = [256]
    dtype = "torch.bfloat16"
    device = "cpu"
    mean = -0.00926460326
    std = 0.196010247
    data = None


class Program_weight_tensor_meta_L_self_modules_layer3_modules_1_modules_bn2_parameters_weight_:
    name = "w_3"
    original_name = "L_self_modules_layer3_modules_1_modules_bn2_parameters_weight_"
    shape = [256]
    dtype = "torch.bfloat16"
    device = "cpu"
    mean = 0.999809265
    std = 0.199785879
    data = None


class Program_weight_tensor_meta_out_34:
    name = "in_0"
    original_name = "out_34"
    shape = [1, 256, 14, 14]
    dtype = "torch.bfloat16"
    device = "cpu"
    mean = 0.56521407
    std = 0.854819678
    data = None


class Program_weight_tensor_meta_out_38:
    name = "in_1"
    original_name = "out_38"
    shape = [1, 256, 14, 14]
    dtype = "torch.bfloat16"
    device = "cpu"
    mean = -0.0223487156
    std = 1.0263394
    data = None
