class Program_weight_tensor_meta_up_states:
    name = "in_0"
    original_name = "up_states"
    shape = [1, 1, 3072]
    dtype = "torch.float32"
    device = "cpu"
    mean = -0.00359832296
    std = 0.490004616
    data = None
