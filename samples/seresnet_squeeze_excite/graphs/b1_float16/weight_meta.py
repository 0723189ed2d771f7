class Program_weight_tensor_meta_x_124:
    name = "in_0"
    original_name = "x_124"
    shape = [1, 1024, 14, 14]
    dtype = "torch.float16"
    device = "cpu"
    mean = 0.48037326
    std = 0.607784516
    data = None


class Program_weight_tensor_meta_x_132:
    name = "in_1"
    original_name = "x_132"
    shape = [1, 1024, 14, 14]
    dtype = "torch.float16"
    device = "cpu"
    mean = 0.00984653634
    std = 0.285960123
    data = None


class Program_weight_tensor_meta_x_se_47:
    name = "in_2"
    original_name = "x_se_47"
    shape = [1, 1024, 1, 1]
    dtype = "torch.float16"
    device = "cpu"
    mean = 0.00961740129
    std = 0.296530303
    data = None
