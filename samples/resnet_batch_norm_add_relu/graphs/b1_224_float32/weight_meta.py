class Program_weight_tensor_meta_l_self_modules_layer1_modules_0_modules_bn2_buffers_running_mean_:
    name = "w_0"
    original_name = "l_self_modules_layer1_modules_0_modules_bn2_buffers_running_mean_"
    shape = [64]
    dtype = "torch.float32"
    device = "cpu"
    mean = -0.0276947
    std = 0.636181


class Program_weight_tensor_meta_l_self_modules_layer1_modules_0_modules_bn2_buffers_running_var_:
    name = "w_1"
    original_name = "l_self_modules_layer1_modules_0_modules_bn2_buffers_running_var_"
    shape = [64]
    dtype = "torch.float32"
    device = "cpu"
    mean = 0.633764
    std = 0.0611077
    min_val = 0


class Program_weight_tensor_meta_l_self_modules_layer1_modules_0_modules_bn2_parameters_bias_:
    name = "w_2"
    original_name = "l_self_modules_layer1_modules_0_modules_bn2_parameters_bias_"
    shape = [64]
    dtype = "torch.float32"
    device = "cpu"
    mean = -0.0031336
    std = 0.161669


class Program_weight_tensor_meta_l_self_modules_layer1_modules_0_modules_bn2_parameters_weight_:
    name = "w_3"
    original_name = "l_self_modules_layer1_modules_0_modules_bn2_parameters_weight_"
    shape = [64]
    dtype = "torch.float32"
    device = "cpu"
    mean = 0.977404
    std = 0.208933


class Program_weight_tensor_meta_out_3:
    name = "in_0"
    original_name = "out_3"
    shape = [1, 64, 56, 56]
    dtype = "torch.float32"
    device = "cpu"
    mean = -0.0276938
    std = 1.01567


class Program_weight_tensor_meta_x_3:
    name = "in_1"
    original_name = "x_3"
    shape = [1, 64, 56, 56]
    dtype = "torch.float32"
    device = "cpu"
    mean = 1.50368
    std = 0.718904
