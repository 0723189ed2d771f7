class Program_weight_tensor_meta_hidden_states_7:
    name = "in_0"
    original_name = "hidden_states_7"
    shape = [4, 64, 384]
    dtype = "torch.bfloat16"
    device = "cpu"
    mean = -0.00173003068
    std = 1.04685263
    data = None


class Program_weight_tensor_meta_L_attention_mask_:
    name = "in_1"
    original_name = "L_attention_mask_"
    shape = [4, 64]
    dtype = "torch.int64"
    device = "cpu"
    mean = None
    std = None
    max_val = 1
    min_val = 0
