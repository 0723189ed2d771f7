class Program_weight_tensor_meta_hidden_states_7:
    name = "in_0"
    original_name = "hidden_states_7"
    shape = [1, 128, 384]
    dtype = "torch.float16"
    device = "cpu"
    mean = -0.00136186
    std = 1.04736


class Program_weight_tensor_meta_l_attention_mask_:
    name = "in_1"
    original_name = "l_attention_mask_"
    shape = [1, 128]
    dtype = "torch.int64"
    device = "cpu"
    mean = None
    std = None
    max_val = 1
    min_val = 0
