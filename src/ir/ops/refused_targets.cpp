#include "ir/ops/refused_targets.h"

namespace passnet::ir {

namespace {

struct Refused {
  std::string_view target;  // ends with '.': everything below it
  std::string_view reason;
};

constexpr std::string_view kFunctions = "it takes a function as an argument, and the text of a graph holds only values";
constexpr std::string_view kGradients = "it belongs to gradients, and graphs run without them";
constexpr std::string_view kLeaves = "its result is no value of PyTorch's that a graph could go on with";
constexpr std::string_view kGenerator =
    "it handles the state of the random generator, which is seeded before every call";
constexpr std::string_view kRemoved = "PyTorch has removed it; torch.linalg has what replaces it";
constexpr std::string_view kAlgorithm = "it is an algorithm written in Python, not an operator";
constexpr std::string_view kEnums = "it takes enumerations of Python's, which the text of a graph does not hold";
constexpr std::string_view kMasked = "torch.masked is a prototype of PyTorch's; write torch.where and the reduction";
constexpr std::string_view kWindows = "write the older function, for example torch.hann_window";

constexpr Refused kRefused[] = {
    {"torch.ops.higher_order.", kFunctions},
    {"torch.utils.checkpoint.", kFunctions},
    {"torch.cond", kFunctions},
    {"torch.while_loop", kFunctions},
    {"torch.vmap", kFunctions},
    {"torch.compile", kFunctions},
    {"torch.nn.functional.triplet_margin_with_distance_loss", kFunctions},
    {"Tensor.apply_", kFunctions},
    {"Tensor.map_", kFunctions},
    {"Tensor.map2_", kFunctions},
    {"torch.autograd.", kGradients},
    {"Tensor.backward", kGradients},
    {"Tensor.register_hook", kGradients},
    {"Tensor.register_post_accumulate_grad_hook", kGradients},
    {"torch.from_numpy", kLeaves},
    {"torch.frombuffer", kLeaves},
    {"torch.from_dlpack", kLeaves},
    {"torch.to_dlpack", kLeaves},
    {"Tensor.numpy", kLeaves},
    {"Tensor.tolist", kLeaves},
    {"Tensor.__array__", kLeaves},
    {"Tensor.__dlpack__", kLeaves},
    {"Tensor.data_ptr", kLeaves},
    {"Tensor.storage", kLeaves},
    {"Tensor.untyped_storage", kLeaves},
    {"torch.get_rng_state", kGenerator},
    {"torch.set_rng_state", kGenerator},
    {"torch.seed", kGenerator},
    {"torch.initial_seed", kGenerator},
    {"torch.eig", kRemoved},
    {"torch.lstsq", kRemoved},
    {"torch.solve", kRemoved},
    {"torch.symeig", kRemoved},
    {"torch.matrix_rank", kRemoved},
    {"Tensor.eig", kRemoved},
    {"Tensor.lstsq", kRemoved},
    {"Tensor.solve", kRemoved},
    {"Tensor.symeig", kRemoved},
    {"torch.lobpcg", kAlgorithm},
    {"torch.pca_lowrank", kAlgorithm},
    {"torch.svd_lowrank", kAlgorithm},
    {"torch.nn.functional.scaled_mm", kEnums},
    {"torch.nn.functional.scaled_grouped_mm", kEnums},
    {"torch.masked.", kMasked},
    {"torch.signal.", kWindows},
    {"torch.distributed.", "it talks to other processes"},
    {"torch.cuda.", "it is about a device that graphs do not run on"},
    {"torchvision.", "it belongs to torchvision, which the worker does not load"},
    {"torch.ops.", "it belongs to a library of operators that the worker does not load: aten is the one it has"},
};

}  // namespace

std::string_view refusal_reason(std::string_view target) {
  for (const Refused& row : kRefused) {
    if (target == row.target || (row.target.back() == '.' && target.starts_with(row.target))) return row.reason;
  }
  return {};
}

}  // namespace passnet::ir
