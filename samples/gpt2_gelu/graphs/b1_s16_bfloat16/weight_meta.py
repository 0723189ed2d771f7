class Program_weight_tensor_meta_x_5:
    name = "in_0"
    original_name = "x_5"
    shape = [1, 16, 3072]
    dtype = "torch.bfloat16"
    device = "cpu"
    mean = 0.0112002491
    std = 0.616387127
    data = None
