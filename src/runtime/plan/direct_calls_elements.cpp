// Signatures of operators that work element by element, and of views and layouts.
#include "runtime/plan/direct_call.h"

namespace passnet::runtime::direct {

namespace {

using at::MemoryFormat, at::Scalar, at::ScalarType, at::Tensor, at::TensorList;
using c10::SymInt, c10::SymIntArrayRef;
using T = const Tensor&;
using Ints = at::IntArrayRef;

}  // namespace

Table element_and_view_calls() {
  return table_of<
      // element by element
      Tensor(T), Tensor(T, T), Tensor(T, T, const Scalar&), Tensor(T, const Scalar&),
      Tensor(T, const Scalar&, const Scalar&), Tensor(T, T, T), Tensor(T, T, T, const Scalar&),
      Tensor(T, c10::string_view), Tensor(const Scalar&, T),
      Tensor(T, const std::optional<Scalar>&, const std::optional<Scalar>&), Tensor(T, T, const Scalar&, const Scalar&),
      Tensor&(Tensor&), Tensor&(Tensor&, T), Tensor&(Tensor&, T, const Scalar&), Tensor&(Tensor&, const Scalar&),
      Tensor&(Tensor&, T, bool), Tensor&(Tensor&, const Scalar&, const Scalar&),
      // views and layouts
      Tensor(T, SymIntArrayRef), Tensor(T, Ints), Tensor(T, int64_t, int64_t), Tensor(T, int64_t),
      Tensor(T, MemoryFormat), Tensor(T, SymIntArrayRef, bool), Tensor(T, int64_t, SymInt),
      Tensor(T, int64_t, int64_t, int64_t), Tensor(T, int64_t, std::optional<SymInt>, std::optional<SymInt>, SymInt),
      Tensor(T, std::optional<MemoryFormat>), Tensor(T, int64_t, SymInt, SymInt), std::vector<Tensor>(T, int64_t),
      std::vector<Tensor>(T, int64_t, int64_t), std::vector<Tensor>(T, SymInt, int64_t),
      std::vector<Tensor>(T, SymIntArrayRef, int64_t), Tensor(T, ScalarType, bool, bool, std::optional<MemoryFormat>),
      Tensor(TensorList, int64_t), Tensor(TensorList), Tensor(T, SymIntArrayRef, Ints),
      Tensor(T, SymIntArrayRef, c10::string_view, std::optional<double>)>();
}

}  // namespace passnet::runtime::direct
