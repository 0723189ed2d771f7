class Program_weight_tensor_meta_cos_2:
    name = "in_0"
    original_name = "cos_2"
    shape = [1, 64, 64]
    dtype = "torch.float32"
    device = "cpu"
    mean = 0.584821
    std = 0.64135


class Program_weight_tensor_meta_key_states:
    name = "in_1"
    original_name = "key_states"
    shape = [1, 3, 64, 64]
    dtype = "torch.float32"
    device = "cpu"
    mean = -0.00264117
    std = 0.490682


class Program_weight_tensor_meta_query_states:
    name = "in_2"
    original_name = "query_states"
    shape = [1, 9, 64, 64]
    dtype = "torch.float32"
    device = "cpu"
    mean = 0.00333967
    std = 0.485305


class Program_weight_tensor_meta_sin_2:
    name = "in_3"
    original_name = "sin_2"
    shape = [1, 64, 64]
    dtype = "torch.float32"
    device = "cpu"
    mean = 0.168509
    std = 0.467346
