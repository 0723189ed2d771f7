class Program_weight_tensor_meta_up_states:
    name = "in_0"
    original_name = "up_states"
    shape = [1, 16, 3072]
    dtype = "torch.bfloat16"
    device = "cpu"
    mean = -0.000245484385
    std = 0.48549507
    data = None
