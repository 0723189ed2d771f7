class Program_weight_tensor_meta_attn_24:
    name = "in_0"
    original_name = "attn_24"
    shape = [8, 12, 49, 49]
    dtype = "torch.bfloat16"
    device = "cpu"
    mean = -0.0289949175
    std = 0.23430307
    data = None


class Program_weight_tensor_meta_L_self_modules_layers_modules_2_modules_blocks_modules_1_buffers_attn_mask_:
    name = "w_0"
    original_name = "L_self_modules_layers_modules_2_modules_blocks_modules_1_buffers_attn_mask_"
    shape = [4, 49, 49]
    dtype = "torch.bfloat16"
    device = "cpu"
    mean = -42.9820908
    std = 49.5076172
    data = None


class Program_weight_tensor_meta_L_self_modules_layers_modules_2_modules_blocks_modules_1_modules_attn_buffers_relative_position_index_:
    name = "w_1"
    original_name = "L_self_modules_layers_modules_2_modules_blocks_modules_1_modules_attn_buffers_relative_position_index_"
    shape = [49, 49]
    dtype = "torch.int64"
    device = "cpu"
    mean = None
    std = None
    max_val = 168
    min_val = 0


class Program_weight_tensor_meta_L_self_modules_layers_modules_2_modules_blocks_modules_1_modules_attn_parameters_relative_position_bias_table_:
    name = "w_2"
    original_name = "L_self_modules_layers_modules_2_modules_blocks_modules_1_modules_attn_parameters_relative_position_bias_table_"
    shape = [169, 12]
    dtype = "torch.bfloat16"
    device = "cpu"
    mean = -0.000105563193
    std = 0.0201673877
    data = None
