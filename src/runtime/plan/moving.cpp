#include "runtime/plan/moving.h"

#include <algorithm>
#include <array>

namespace passnet::runtime {

namespace {

using namespace std::string_view_literals;

// Source: the aliasing of results in PyTorch's native_functions.yaml, "Tensor(a)".
constexpr std::array kAlways = {
    "alias"sv,     "as_strided"sv, "chunk"sv,   "detach"sv,    "diagonal"sv, "expand"sv,   "expand_as"sv,
    "mH"sv,        "mT"sv,         "movedim"sv, "moveaxis"sv,  "narrow"sv,   "numpy_T"sv,  "permute"sv,
    "select"sv,    "slice"sv,      "split"sv,   "squeeze"sv,   "swapaxes"sv, "swapdims"sv, "t"sv,
    "transpose"sv, "unbind"sv,     "unfold"sv,  "unsqueeze"sv, "view"sv,     "view_as"sv,  "split_with_sizes"sv,
    "unflatten"sv,
};
// The same, and a copy where a view cannot be had.
constexpr std::array kWhenContiguous = {"contiguous"sv, "flatten"sv, "ravel"sv, "reshape"sv, "reshape_as"sv};

}  // namespace

Moving moving_of(std::string_view name, bool reorders) {
  constexpr std::string_view kSpace = "aten::";
  if (!name.starts_with(kSpace) || reorders) return Moving::Never;
  name.remove_prefix(kSpace.size());
  if (std::ranges::find(kAlways, name) != kAlways.end()) return Moving::Always;
  return std::ranges::find(kWhenContiguous, name) != kWhenContiguous.end() ? Moving::WhenContiguous : Moving::Never;
}

}  // namespace passnet::runtime
