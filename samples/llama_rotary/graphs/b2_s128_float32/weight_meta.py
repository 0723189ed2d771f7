class Program_weight_tensor_meta_cos_2:
    name = "in_0"
    original_name = "cos_2"
    shape = [1, 128, 64]
    dtype = "torch.float32"
    device = "cpu"
    mean = 0.503766
    std = 0.680322


class Program_weight_tensor_meta_key_states:
    name = "in_1"
    original_name = "key_states"
    shape = [2, 3, 128, 64]
    dtype = "torch.float32"
    device = "cpu"
    mean = 0.000997327
    std = 0.486608


class Program_weight_tensor_meta_query_states:
    name = "in_2"
    original_name = "query_states"
    shape = [2, 9, 128, 64]
    dtype = "torch.float32"
    device = "cpu"
    mean = 0.00106039
    std = 0.484549


class Program_weight_tensor_meta_sin_2:
    name = "in_3"
    original_name = "sin_2"
    shape = [1, 128, 64]
    dtype = "torch.float32"
    device = "cpu"
    mean = 0.170002
    std = 0.504547
