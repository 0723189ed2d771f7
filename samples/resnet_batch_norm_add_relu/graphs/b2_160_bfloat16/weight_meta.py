class Program_weight_tensor_meta_l_self_modules_layer1_modules_0_modules_bn2_buffers_running_mean_:
    name = "w_0"
    original_name = "l_self_modules_layer1_modules_0_modules_bn2_buffers_running_mean_"
    shape = [64]
    dtype = "torch.bfloat16"
    device = "cpu"
    mean = -0.0274963
    std = 0.626853


class Program_weight_tensor_meta_l_self_modules_layer1_modules_0_modules_bn2_buffers_running_var_:
    name = "w_1"
    original_name = "l_self_modules_layer1_modules_0_modules_bn2_buffers_running_var_"
    shape = [64]
    dtype = "torch.bfloat16"
    device = "cpu"
    mean = 0.628906
    std = 0.0674108
    min_val = 0


class Program_weight_tensor_meta_l_self_modules_layer1_modules_0_modules_bn2_parameters_bias_:
    name = "w_2"
    original_name = "l_self_modules_layer1_modules_0_modules_bn2_parameters_bias_"
    shape = [64]
    dtype = "torch.bfloat16"
    device = "cpu"
    mean = -0.00312471
    std = 0.161758


class Program_weight_tensor_meta_l_self_modules_layer1_modules_0_modules_bn2_parameters_weight_:
    name = "w_3"
    original_name = "l_self_modules_layer1_modules_0_modules_bn2_parameters_weight_"
    shape = [64]
    dtype = "torch.bfloat16"
    device = "cpu"
    mean = 0.977356
    std = 0.208694


class Program_weight_tensor_meta_out_3:
    name = "in_0"
    original_name = "out_3"
    shape = [2, 64, 40, 40]
    dtype = "torch.bfloat16"
    device = "cpu"
    mean = -0.0279894
    std = 1.0079


class Program_weight_tensor_meta_x_3:
    name = "in_1"
    original_name = "x_3"
    shape = [2, 64, 40, 40]
    dtype = "torch.bfloat16"
    device = "cpu"
    mean = 1.50352
    std = 0.716059
