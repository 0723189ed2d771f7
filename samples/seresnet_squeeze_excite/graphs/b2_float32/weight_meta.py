class Program_weight_tensor_meta_x_124:
    name = "in_0"
    original_name = "x_124"
    shape = [2, 1024, 14, 14]
    dtype = "torch.float32"
    device = "cpu"
    mean = 0.480868852
    std = 0.610160996
    data = None


class Program_weight_tensor_meta_x_132:
    name = "in_1"
    original_name = "x_132"
    shape = [2, 1024, 14, 14]
    dtype = "torch.float32"
    device = "cpu"
    mean = 0.00989113187
    std = 0.286737383
    data = None


class Program_weight_tensor_meta_x_se_47:
    name = "in_2"
    original_name = "x_se_47"
    shape = [2, 1024, 1, 1]
    dtype = "torch.float32"
    device = "cpu"
    mean = 0.00960900403
    std = 0.296724375
    data = None
