class Program_weight_tensor_meta_x_5:
    name = "in_0"
    original_name = "x_5"
    shape = [1, 64, 3072]
    dtype = "torch.float16"
    device = "cpu"
    mean = 0.0125991
    std = 0.621866
