class Program_weight_tensor_meta_x:
    name = "x"
    shape = [1024, 1024]
    dtype = "torch.float32"
    device = "cpu"
    mean = 0.0
    std = 200000.0
