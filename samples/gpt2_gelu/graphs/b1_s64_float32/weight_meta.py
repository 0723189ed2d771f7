class Program_weight_tensor_meta_x_5:
    name = "in_0"
    original_name = "x_5"
    shape = [1, 64, 3072]
    dtype = "torch.float32"
    device = "cpu"
    mean = 0.0126008
    std = 0.621877
