class Program_weight_tensor_meta_x_124:
    name = "in_0"
    original_name = "x_124"
    shape = [1, 1024, 14, 14]
    dtype = "torch.bfloat16"
    device = "cpu"
    mean = 0.480527603
    std = 0.607949457
    data = None


class Program_weight_tensor_meta_x_132:
    name = "in_1"
    original_name = "x_132"
    shape = [1, 1024, 14, 14]
    dtype = "torch.bfloat16"
    device = "cpu"
    mean = 0.00982003577
    std = 0.285944417
    data = None


class Program_weight_tensor_meta_x_se_47:
    name = "in_2"
    original_name = "x_se_47"
    shape = [1, 1024, 1, 1]
    dtype = "torch.bfloat16"
    device = "cpu"
    mean = 0.00956047501
    std = 0.296834956
    data = None
