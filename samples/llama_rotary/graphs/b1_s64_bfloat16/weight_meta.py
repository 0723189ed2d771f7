class Program_weight_tensor_meta_cos_2:
    name = "in_0"
    original_name = "cos_2"
    shape = [1, 64, 64]
    dtype = "torch.bfloat16"
    device = "cpu"
    mean = 0.584752
    std = 0.641511


class Program_weight_tensor_meta_key_states:
    name = "in_1"
    original_name = "key_states"
    shape = [1, 3, 64, 64]
    dtype = "torch.bfloat16"
    device = "cpu"
    mean = -0.00264829
    std = 0.490709


class Program_weight_tensor_meta_query_states:
    name = "in_2"
    original_name = "query_states"
    shape = [1, 9, 64, 64]
    dtype = "torch.bfloat16"
    device = "cpu"
    mean = 0.00334
    std = 0.485296


class Program_weight_tensor_meta_sin_2:
    name = "in_3"
    original_name = "sin_2"
    shape = [1, 64, 64]
    dtype = "torch.bfloat16"
    device = "cpu"
    mean = 0.16855
    std = 0.467385
