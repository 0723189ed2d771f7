class Program_weight_tensor_meta_cos_2:
    name = "in_0"
    original_name = "cos_2"
    shape = [1, 128, 64]
    dtype = "torch.float16"
    device = "cpu"
    mean = 0.503779
    std = 0.680317


class Program_weight_tensor_meta_key_states:
    name = "in_1"
    original_name = "key_states"
    shape = [2, 3, 128, 64]
    dtype = "torch.float16"
    device = "cpu"
    mean = 0.000998187
    std = 0.4866


class Program_weight_tensor_meta_query_states:
    name = "in_2"
    original_name = "query_states"
    shape = [2, 9, 128, 64]
    dtype = "torch.float16"
    device = "cpu"
    mean = 0.00106029
    std = 0.484543


class Program_weight_tensor_meta_sin_2:
    name = "in_3"
    original_name = "sin_2"
    shape = [1, 128, 64]
    dtype = "torch.float16"
    device = "cpu"
    mean = 0.170018
    std = 0.504546
