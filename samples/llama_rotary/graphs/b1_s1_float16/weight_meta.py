class Program_weight_tensor_meta_cos_2:
    name = "in_0"
    original_name = "cos_2"
    shape = [1, 1, 64]
    dtype = "torch.float16"
    device = "cpu"
    mean = 0.49482131
    std = 0.715818244
    data = None


class Program_weight_tensor_meta_key_states:
    name = "in_1"
    original_name = "key_states"
    shape = [1, 3, 1, 64]
    dtype = "torch.float16"
    device = "cpu"
    mean = -0.014945507
    std = 0.491842181
    data = None


class Program_weight_tensor_meta_query_states:
    name = "in_2"
    original_name = "query_states"
    shape = [1, 9, 1, 64]
    dtype = "torch.float16"
    device = "cpu"
    mean = 0.0423165162
    std = 0.481593578
    data = None


class Program_weight_tensor_meta_sin_2:
    name = "in_3"
    original_name = "sin_2"
    shape = [1, 1, 64]
    dtype = "torch.float16"
    device = "cpu"
    mean = 0.186658263
    std = 0.46846673
    data = None
