class Program_weight_tensor_meta_cos_2:
    name = "in_0"
    original_name = "cos_2"
    shape = [1, 64, 64]
    dtype = "torch.bfloat16"
    device = "cpu"
    mean = 0.584752154
    std = 0.641510835
    data = None


class Program_weight_tensor_meta_key_states:
    name = "in_1"
    original_name = "key_states"
    shape = [1, 3, 64, 64]
    dtype = "torch.bfloat16"
    device = "cpu"
    mean = -0.0026482918
    std = 0.490709482
    data = None


class Program_weight_tensor_meta_query_states:
    name = "in_2"
    original_name = "query_states"
    shape = [1, 9, 64, 64]
    dtype = "torch.bfloat16"
    device = "cpu"
    mean = 0.00333990256
    std = 0.485296149
    data = None


class Program_weight_tensor_meta_sin_2:
    name = "in_3"
    original_name = "sin_2"
    shape = [1, 64, 64]
    dtype = "torch.bfloat16"
    device = "cpu"
    mean = 0.168550439
    std = 0.467384696
    data = None
