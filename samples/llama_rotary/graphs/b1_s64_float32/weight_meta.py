class Program_weight_tensor_meta_cos_2:
    name = "in_0"
    original_name = "cos_2"
    shape = [1, 64, 64]
    dtype = "torch.float32"
    device = "cpu"
    mean = 0.584821433
    std = 0.64135002
    data = None


class Program_weight_tensor_meta_key_states:
    name = "in_1"
    original_name = "key_states"
    shape = [1, 3, 64, 64]
    dtype = "torch.float32"
    device = "cpu"
    mean = -0.00264117179
    std = 0.490682284
    data = None


class Program_weight_tensor_meta_query_states:
    name = "in_2"
    original_name = "query_states"
    shape = [1, 9, 64, 64]
    dtype = "torch.float32"
    device = "cpu"
    mean = 0.00333966956
    std = 0.485304801
    data = None


class Program_weight_tensor_meta_sin_2:
    name = "in_3"
    original_name = "sin_2"
    shape = [1, 64, 64]
    dtype = "torch.float32"
    device = "cpu"
    mean = 0.168509179
    std = 0.467346173
    data = None
