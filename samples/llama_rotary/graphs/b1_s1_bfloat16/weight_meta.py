class Program_weight_tensor_meta_cos_2:
    name = "in_0"
    original_name = "cos_2"
    shape = [1, 1, 64]
    dtype = "torch.bfloat16"
    device = "cpu"
    mean = 0.495094299
    std = 0.716282487
    data = None


class Program_weight_tensor_meta_key_states:
    name = "in_1"
    original_name = "key_states"
    shape = [1, 3, 1, 64]
    dtype = "torch.bfloat16"
    device = "cpu"
    mean = -0.0150264104
    std = 0.491920065
    data = None


class Program_weight_tensor_meta_query_states:
    name = "in_2"
    original_name = "query_states"
    shape = [1, 9, 1, 64]
    dtype = "torch.bfloat16"
    device = "cpu"
    mean = 0.0421026159
    std = 0.481709049
    data = None


class Program_weight_tensor_meta_sin_2:
    name = "in_3"
    original_name = "sin_2"
    shape = [1, 1, 64]
    dtype = "torch.bfloat16"
    device = "cpu"
    mean = 0.18628788
    std = 0.468144274
    data = None
