class Program_weight_tensor_meta_x_5:
    name = "in_0"
    original_name = "x_5"
    shape = [1, 16, 3072]
    dtype = "torch.float16"
    device = "cpu"
    mean = 0.0112201986
    std = 0.616298325
    data = None
