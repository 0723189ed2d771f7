class Program_weight_tensor_meta_x:
    name = "x"
    shape = [50, 16]
    dtype = "torch.float32"
    device = "cpu"
    mean = 0.0
    std = 1.0


class Program_weight_tensor_meta_index:
    name = "index"
    shape = [40]
    dtype = "torch.int64"
    device = "cpu"
    min_val = 0
    max_val = 49
