class Program_weight_tensor_meta_attn_4:
    name = "in_0"
    original_name = "attn_4"
    shape = [64, 3, 49, 49]
    dtype = "torch.bfloat16"
    device = "cpu"
    mean = -0.0111824
    std = 0.071773


class Program_weight_tensor_meta_l_self_modules_layers_modules_0_modules_blocks_modules_1_buffers_attn_mask_:
    name = "w_0"
    original_name = "l_self_modules_layers_modules_0_modules_blocks_modules_1_buffers_attn_mask_"
    shape = [64, 49, 49]
    dtype = "torch.bfloat16"
    device = "cpu"
    mean = -11.8701
    std = 32.3437


class Program_weight_tensor_meta_l_self_modules_layers_modules_0_modules_blocks_modules_1_modules_attn_buffers_relative_position_index_:
    name = "w_1"
    original_name = "l_self_modules_layers_modules_0_modules_blocks_modules_1_modules_attn_buffers_relative_position_index_"
    shape = [49, 49]
    dtype = "torch.int64"
    device = "cpu"
    mean = None
    std = None
    max_val = 168
    min_val = 0


class Program_weight_tensor_meta_l_self_modules_layers_modules_0_modules_blocks_modules_1_modules_attn_parameters_relative_position_bias_table_:
    name = "w_2"
    original_name = "l_self_modules_layers_modules_0_modules_blocks_modules_1_modules_attn_parameters_relative_position_bias_table_"
    shape = [169, 3]
    dtype = "torch.bfloat16"
    device = "cpu"
    mean = 0.000310986
    std = 0.0203334
