class Program_weight_tensor_meta_x_124:
    name = "in_0"
    original_name = "x_124"
    shape = [2, 1024, 14, 14]
    dtype = "torch.float16"
    device = "cpu"
    mean = 0.480823548
    std = 0.61009969
    data = None


class Program_weight_tensor_meta_x_132:
    name = "in_1"
    original_name = "x_132"
    shape = [2, 1024, 14, 14]
    dtype = "torch.float16"
    device = "cpu"
    mean = 0.00988904871
    std = 0.286728085
    data = None


class Program_weight_tensor_meta_x_se_47:
    name = "in_2"
    original_name = "x_se_47"
    shape = [2, 1024, 1, 1]
    dtype = "torch.float16"
    device = "cpu"
    mean = 0.00959819407
    std = 0.296699526
    data = None
