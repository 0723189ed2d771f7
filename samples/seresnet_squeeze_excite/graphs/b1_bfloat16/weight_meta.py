class Program_weight_tensor_meta_x_124:
    name = "in_0"
    original_name = "x_124"
    shape = [1, 1024, 14, 14]
    dtype = "torch.bfloat16"
    device = "cpu"
    mean = 0.480541
    std = 0.607956


class Program_weight_tensor_meta_x_132:
    name = "in_1"
    original_name = "x_132"
    shape = [1, 1024, 14, 14]
    dtype = "torch.bfloat16"
    device = "cpu"
    mean = 0.00981963
    std = 0.285926


class Program_weight_tensor_meta_x_se_47:
    name = "in_2"
    original_name = "x_se_47"
    shape = [1, 1024, 1, 1]
    dtype = "torch.bfloat16"
    device = "cpu"
    mean = 0.00961692
    std = 0.296806
