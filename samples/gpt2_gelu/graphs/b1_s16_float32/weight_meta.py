class Program_weight_tensor_meta_x_5:
    name = "in_0"
    original_name = "x_5"
    shape = [1, 16, 3072]
    dtype = "torch.float32"
    device = "cpu"
    mean = 0.011222828
    std = 0.616306535
    data = None
