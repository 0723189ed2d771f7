class Program_weight_tensor_meta_up_states:
    name = "in_0"
    original_name = "up_states"
    shape = [1, 64, 3072]
    dtype = "torch.float32"
    device = "cpu"
    mean = -0.00500413
    std = 0.480754
