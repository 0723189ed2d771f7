class Program_weight_tensor_meta_up_states:
    name = "in_0"
    original_name = "up_states"
    shape = [1, 16, 3072]
    dtype = "torch.float16"
    device = "cpu"
    mean = -0.000202140281
    std = 0.485398324
    data = None
