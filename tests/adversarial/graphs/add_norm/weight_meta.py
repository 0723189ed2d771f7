class Program_weight_tensor_meta_x:
    name = "x"
    shape = [32, 64]
    dtype = "torch.float32"
    device = "cpu"
    mean = 0.3
    std = 1.0


class Program_weight_tensor_meta_y:
    name = "y"
    shape = [32, 64]
    dtype = "torch.float32"
    device = "cpu"
    mean = -0.2
    std = 0.7


class Program_weight_tensor_meta_weight:
    name = "weight"
    shape = [64]
    dtype = "torch.float32"
    device = "cpu"
    mean = 1.0
    std = 0.2


class Program_weight_tensor_meta_bias:
    name = "bias"
    shape = [64]
    dtype = "torch.float32"
    device = "cpu"
    mean = 0.0
    std = 0.2
