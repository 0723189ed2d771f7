class Program_weight_tensor_meta_x:
    name = "x"
    shape = [16, 512]
    dtype = "torch.float16"
    device = "cpu"
    mean = 0.4
    std = 1.0
