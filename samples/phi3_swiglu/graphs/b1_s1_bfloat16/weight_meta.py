class Program_weight_tensor_meta_up_states:
    name = "in_0"
    original_name = "up_states"
    shape = [1, 1, 3072]
    dtype = "torch.bfloat16"
    device = "cpu"
    mean = -0.00366739587
    std = 0.489948859
    data = None
