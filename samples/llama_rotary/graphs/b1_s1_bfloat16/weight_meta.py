class Program_weight_tensor_meta_cos_2:
    name = "in_0"
    original_name = "cos_2"
    shape = [1, 1, 64]
    dtype = "torch.bfloat16"
    device = "cpu"
    mean = 0.495094
    std = 0.716282


class Program_weight_tensor_meta_key_states:
    name = "in_1"
    original_name = "key_states"
    shape = [1, 3, 1, 64]
    dtype = "torch.bfloat16"
    device = "cpu"
    mean = -0.0150264
    std = 0.49192


class Program_weight_tensor_meta_query_states:
    name = "in_2"
    original_name = "query_states"
    shape = [1, 9, 1, 64]
    dtype = "torch.bfloat16"
    device = "cpu"
    mean = 0.0421026
    std = 0.481709


class Program_weight_tensor_meta_sin_2:
    name = "in_3"
    original_name = "sin_2"
    shape = [1, 1, 64]
    dtype = "torch.bfloat16"
    device = "cpu"
    mean = 0.186288
    std = 0.468144
