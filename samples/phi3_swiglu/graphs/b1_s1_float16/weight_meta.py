class Program_weight_tensor_meta_up_states:
    name = "in_0"
    original_name = "up_states"
    shape = [1, 1, 3072]
    dtype = "torch.float16"
    device = "cpu"
    mean = -0.00360355068
    std = 0.489999021
    data = None
