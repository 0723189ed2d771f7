class Program_weight_tensor_meta_x:
    name = "x"
    shape = [16, 48]
    dtype = "torch.float32"
    device = "cpu"
    mean = 0.2
    std = 1.0
