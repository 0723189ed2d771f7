class Program_weight_tensor_meta_up_states:
    name = "in_0"
    original_name = "up_states"
    shape = [1, 16, 3072]
    dtype = "torch.float32"
    device = "cpu"
    mean = -0.000204731906
    std = 0.485403356
    data = None
