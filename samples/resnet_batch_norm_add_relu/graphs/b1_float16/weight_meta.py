class Program_weight_tensor_meta_L_self_modules_layer3_modules_1_modules_bn2_buffers_running_mean_:
    name = "w_0"
    original_name = "L_self_modules_layer3_modules_1_modules_bn2_buffers_running_mean_"
    shape = [256]
    dtype = "torch.float16"
    device = "cpu"
    mean = -0.0227811683
    std = 0.58588939
    data = None


class Program_weight_tensor_meta_L_self_modules_layer3_modules_1_modules_bn2_buffers_running_var_:
    name = "w_1"
    original_name = "L_self_modules_layer3_modules_1_modules_bn2_buffers_running_var_"
    shape = [256]
    dtype = "torch.float16"
    device = "cpu"
    mean = 0.730165482
    std = 0.0937871435
    data = None
    min_val = 0


class Program_weight_tensor_meta_L_self_modules_layer3_modules_1_modules_bn2_parameters_bias_:
    name = "w_2"
    original_name = "L_self_modules_layer3_modules_1_modules_bn2_parameters_bias_"
    shape = [256]
    dtype = "torch.float16"
    device = "cpu"
    mean = -0.00922270399
    std = 0.195989038
    data = None


class Program_weight_tensor_meta_L_self_modules_layer3_modules_1_modules_bn2_parameters_weight_:
    name = "w_3"
    original_name = "L_self_modules_layer3_modules_1_modules_bn2_parameters_weight_"
    shape = [256]
    dtype = "torch.float16"
    device = "cpu"
    mean = 0.999842644
    std = 0.199855858
    data = None


class Program_weight_tensor_meta_out_34:
    name = "in_0"
    original_name = "out_34"
    shape = [1, 256, 14, 14]
    dtype = "torch.float16"
    device = "cpu"
    mean = 0.565282504
    std = 0.854782453
    data = None


class Program_weight_tensor_meta_out_38:
    name = "in_1"
    original_name = "out_38"
    shape = [1, 256, 14, 14]
    dtype = "torch.float16"
    device = "cpu"
    mean = -0.022427145
    std = 1.02589825
    data = None
