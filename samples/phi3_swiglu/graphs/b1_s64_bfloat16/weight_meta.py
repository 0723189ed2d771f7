class Program_weight_tensor_meta_up_states:
    name = "in_0"
    original_name = "up_states"
    shape = [1, 64, 3072]
    dtype = "torch.bfloat16"
    device = "cpu"
    mean = -0.00500102
    std = 0.480895
