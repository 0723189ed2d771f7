class Program_weight_tensor_meta_x_5:
    name = "in_0"
    original_name = "x_5"
    shape = [1, 64, 3072]
    dtype = "torch.bfloat16"
    device = "cpu"
    mean = 0.0125869
    std = 0.621935
