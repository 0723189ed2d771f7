class Program_weight_tensor_meta_x:
    name = "x"
    shape = [8, 256]
    dtype = "torch.float32"
    device = "cpu"
    mean = 0.1
    std = 1.0
