class Program_weight_tensor_meta_L_self_modules_layer3_modules_1_modules_bn2_buffers_running_mean_:
    name = "w_0"
    original_name = "L_self_modules_layer3_modules_1_modules_bn2_buffers_running_mean_"
    shape = [256]
    dtype = "torch.float16"
    device = "cpu"
    mean = -0.0225639218
    std = 0.58475738
    data = None


class Program_weight_tensor_meta_L_self_modules_layer3_modules_1_modules_bn2_buffers_running_var_:
    name = "w_1"
    original_name = "L_self_modules_layer3_modules_1_modules_bn2_buffers_running_var_"
    shape = [256]
    dtype = "torch.float16"
    device = "cpu"
    mean = 0.733869553
    std = 0.0746295574
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
    shape = [2, 256, 14, 14]
    dtype = "torch.float16"
    device = "cpu"
    mean = 0.567165574
    std = 0.855737122
    data = None


class Program_weight_tensor_meta_out_38:
    name = "in_1"
    original_name = "out_38"
    shape = [2, 256, 14, 14]
    dtype = "torch.float16"
    device = "cpu"
    mean = -0.0223571541
    std = 1.03163897
    data = None
