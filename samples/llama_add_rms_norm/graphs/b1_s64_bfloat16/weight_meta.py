class Program_weight_tensor_meta_attn_output_3:
    name = "in_0"
    original_name = "attn_output_3"
    shape = [1, 64, 576]
    dtype = "torch.bfloat16"
    device = "cpu"
    mean = -0.00132543955
    std = 0.0687591645
    data = None


class Program_weight_tensor_meta_inputs_embeds:
    name = "in_1"
    original_name = "inputs_embeds"
    shape = [1, 64, 576]
    dtype = "torch.bfloat16"
    device = "cpu"
    mean = 6.27114624e-05
    std = 0.0198396161
    data = None


class Program_weight_tensor_meta_L_self_modules_model_modules_layers_modules_0_modules_post_attention_layernorm_parameters_weight_:
    name = "w_0"
    original_name = "L_self_modules_model_modules_layers_modules_0_modules_post_attention_layernorm_parameters_weight_"
    shape = [576]
    dtype = "torch.bfloat16"
    device = "cpu"
    mean = 0.98735555
    std = 0.198788525
    data = None
