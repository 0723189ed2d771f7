class Program_weight_tensor_meta_attn_output_3:
    name = "in_0"
    original_name = "attn_output_3"
    shape = [1, 64, 576]
    dtype = "torch.float32"
    device = "cpu"
    mean = -0.0013357132
    std = 0.0687540631
    data = None


class Program_weight_tensor_meta_inputs_embeds:
    name = "in_1"
    original_name = "inputs_embeds"
    shape = [1, 64, 576]
    dtype = "torch.float32"
    device = "cpu"
    mean = 6.26112182e-05
    std = 0.0198400776
    data = None


class Program_weight_tensor_meta_L_self_modules_model_modules_layers_modules_0_modules_post_attention_layernorm_parameters_weight_:
    name = "w_0"
    original_name = "L_self_modules_model_modules_layers_modules_0_modules_post_attention_layernorm_parameters_weight_"
    shape = [576]
    dtype = "torch.float32"
    device = "cpu"
    mean = 0.987150737
    std = 0.198690368
    data = None
