class Program_weight_tensor_meta_x:
    name = "x"
    shape = [16, 256]
    dtype = "torch.float32"
    device = "cpu"
    mean = 30.0
    std = 0.5
