class Program_weight_tensor_meta_x_124:
    name = "in_0"
    original_name = "x_124"
    shape = [2, 1024, 14, 14]
    dtype = "torch.bfloat16"
    device = "cpu"
    mean = 0.480920309
    std = 0.610340302
    data = None


class Program_weight_tensor_meta_x_132:
    name = "in_1"
    original_name = "x_132"
    shape = [2, 1024, 14, 14]
    dtype = "torch.bfloat16"
    device = "cpu"
    mean = 0.0098744419
    std = 0.286718471
    data = None


class Program_weight_tensor_meta_x_se_47:
    name = "in_2"
    original_name = "x_se_47"
    shape = [2, 1024, 1, 1]
    dtype = "torch.bfloat16"
    device = "cpu"
    mean = 0.0095985448
    std = 0.296941643
    data = None
