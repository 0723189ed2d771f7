class Program_weight_tensor_meta_x_5:
    name = "in_0"
    original_name = "x_5"
    shape = [1, 1, 3072]
    dtype = "torch.float16"
    device = "cpu"
    mean = 0.00353128828
    std = 0.619022722
    data = None
