class Program_weight_tensor_meta_x:
    name = "x"
    shape = [32, 48]
    dtype = "torch.bfloat16"
    device = "cpu"
    mean = 0.0
    std = 1.5
