class Program_weight_tensor_meta_x:
    name = "x"
    shape = [32, 24]
    dtype = "torch.float32"
    device = "cpu"
    mean = 0.0
    std = 1.0
