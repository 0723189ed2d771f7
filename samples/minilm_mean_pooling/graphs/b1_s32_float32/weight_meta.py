class Program_weight_tensor_meta_hidden_states_7:
    name = "in_0"
    original_name = "hidden_states_7"
    shape = [1, 32, 384]
    dtype = "torch.float32"
    device = "cpu"
    mean = -0.00173568286
    std = 1.04724584
    data = None


class Program_weight_tensor_meta_L_attention_mask_:
    name = "in_1"
    original_name = "L_attention_mask_"
    shape = [1, 32]
    dtype = "torch.int64"
    device = "cpu"
    mean = None
    std = None
    data = [1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0]
