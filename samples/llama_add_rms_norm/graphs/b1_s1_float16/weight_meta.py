class Program_weight_tensor_meta_attn_output_3:
    name = "in_0"
    original_name = "attn_output_3"
    shape = [1, 1, 576]
    dtype = "torch.float16"
    device = "cpu"
    mean = -0.00372896064
    std = 0.2321234
    data = None


class Program_weight_tensor_meta_inputs_embeds:
    name = "in_1"
    original_name = "inputs_embeds"
    shape = [1, 1, 576]
    dtype = "torch.float16"
    device = "cpu"
    mean = -1.16301494e-05
    std = 0.019358694
    data = None


class Program_weight_tensor_meta_L_self_modules_model_modules_layers_modules_0_modules_post_attention_layernorm_parameters_weight_:
    name = "w_0"
    original_name = "L_self_modules_model_modules_layers_modules_0_modules_post_attention_layernorm_parameters_weight_"
    shape = [576]
    dtype = "torch.float16"
    device = "cpu"
    mean = 0.987158457
    std = 0.198692725
    data = None
