class Program_weight_tensor_meta_cos_2:
    name = "in_0"
    original_name = "cos_2"
    shape = [1, 1, 64]
    dtype = "torch.float32"
    device = "cpu"
    mean = 0.495184359
    std = 0.715352543
    data = None


class Program_weight_tensor_meta_key_states:
    name = "in_1"
    original_name = "key_states"
    shape = [1, 3, 1, 64]
    dtype = "torch.float32"
    device = "cpu"
    mean = -0.0149410825
    std = 0.491842744
    data = None


class Program_weight_tensor_meta_query_states:
    name = "in_2"
    original_name = "query_states"
    shape = [1, 9, 1, 64]
    dtype = "torch.float32"
    device = "cpu"
    mean = 0.0423115027
    std = 0.481563411
    data = None


class Program_weight_tensor_meta_sin_2:
    name = "in_3"
    original_name = "sin_2"
    shape = [1, 1, 64]
    dtype = "torch.float32"
    device = "cpu"
    mean = 0.186849451
    std = 0.468590581
    data = None
