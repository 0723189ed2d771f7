class Program_weight_tensor_meta_x_124:
    name = "in_0"
    original_name = "x_124"
    shape = [1, 1024, 14, 14]
    dtype = "torch.float32"
    device = "cpu"
    mean = 0.480429886
    std = 0.607876835
    data = None


class Program_weight_tensor_meta_x_132:
    name = "in_1"
    original_name = "x_132"
    shape = [1, 1024, 14, 14]
    dtype = "torch.float32"
    device = "cpu"
    mean = 0.00985152205
    std = 0.285972374
    data = None


class Program_weight_tensor_meta_x_se_47:
    name = "in_2"
    original_name = "x_se_47"
    shape = [1, 1024, 1, 1]
    dtype = "torch.float32"
    device = "cpu"
    mean = 0.00962383567
    std = 0.296571634
    data = None
