class Program_weight_tensor_meta_x_5:
    name = "in_0"
    original_name = "x_5"
    shape = [1, 1, 3072]
    dtype = "torch.bfloat16"
    device = "cpu"
    mean = 0.0036266041
    std = 0.619051658
    data = None
