class Program_weight_tensor_meta_x_5:
    name = "in_0"
    original_name = "x_5"
    shape = [1, 1, 3072]
    dtype = "torch.float32"
    device = "cpu"
    mean = 0.00353955063
    std = 0.619040377
    data = None
