class Program_weight_tensor_meta_x:
    name = "x"
    shape = [16, 32]
    dtype = "torch.float32"
    device = "cpu"
    mean = 0.0
    std = 1.0


class Program_weight_tensor_meta_mask:
    name = "mask"
    shape = [16, 32]
    dtype = "torch.bool"
    device = "cpu"
    mean = 0.5
    std = 0.5
