class Program_weight_tensor_meta_cos_2:
    name = "in_0"
    original_name = "cos_2"
    shape = [1, 64, 64]
    dtype = "torch.float16"
    device = "cpu"
    mean = 0.58481783
    std = 0.641363141
    data = None


class Program_weight_tensor_meta_key_states:
    name = "in_1"
    original_name = "key_states"
    shape = [1, 3, 64, 64]
    dtype = "torch.float16"
    device = "cpu"
    mean = -0.00263778584
    std = 0.490672969
    data = None


class Program_weight_tensor_meta_query_states:
    name = "in_2"
    original_name = "query_states"
    shape = [1, 9, 64, 64]
    dtype = "torch.float16"
    device = "cpu"
    mean = 0.00334039886
    std = 0.485299631
    data = None


class Program_weight_tensor_meta_sin_2:
    name = "in_3"
    original_name = "sin_2"
    shape = [1, 64, 64]
    dtype = "torch.float16"
    device = "cpu"
    mean = 0.168454441
    std = 0.46736274
    data = None
