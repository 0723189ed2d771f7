// Finds the step that calls an operator through its C++ signature. An operator whose signature is in a table of
// direct_calls_*.cpp is called without boxing; all others go through the boxed interface, which is right but slower.
#include "runtime/plan/direct_call.h"

namespace passnet::runtime {

namespace {

const direct::Table& table() {
  static const direct::Table instance = [] {
    direct::Table all = direct::element_and_view_calls();
    all.merge(direct::reduction_and_layer_calls());
    return all;
  }();
  return instance;
}

/// Operators whose list of tensors arrives as ITensorListRef, which a schema does not tell.
const direct::Table& any_list_table() {
  static const direct::Table instance = direct::table_of<at::Tensor(const at::ITensorListRef&, int64_t)>();
  return instance;
}

}  // namespace

std::unique_ptr<Step> make_direct_call(const Overload& overload, const std::vector<ArgSource>& sources,
                                       const std::vector<int32_t>& outs) {
  const bool any_list =
      overload.handle.operator_name().name == "aten::cat" && overload.handle.operator_name().overload_name.empty();
  const direct::Table& candidates = any_list ? any_list_table() : table();
  const auto found = candidates.find(overload.signature);
  return found == candidates.end() ? nullptr : found->second(overload, sources, outs);
}

}  // namespace passnet::runtime
