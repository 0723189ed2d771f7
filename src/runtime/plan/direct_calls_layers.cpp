// Signatures of reductions, products, convolutions, normalisations, pooling and interpolation.
#include "runtime/plan/direct_call.h"

namespace passnet::runtime::direct {

namespace {

using at::OptionalIntArrayRef, at::Scalar, at::ScalarType, at::Tensor;
using c10::SymInt, c10::SymIntArrayRef;
using T = const Tensor&;
using OptT = const std::optional<Tensor>&;
using Ints = at::IntArrayRef;
using OptType = std::optional<ScalarType>;

}  // namespace

Table reduction_and_layer_calls() {
  return table_of<
      // reductions
      Tensor(T, OptionalIntArrayRef, bool, OptType), Tensor(T, int64_t, OptType), Tensor(T, OptType),
      Tensor(T, Ints, bool), Tensor(T, OptionalIntArrayRef, bool),
      Tensor(T, const Scalar&, OptionalIntArrayRef, bool, OptType), Tensor(T, int64_t, bool),
      std::tuple<Tensor, Tensor>(T, int64_t, bool), Tensor(T, std::optional<int64_t>, bool),
      // products, convolutions, normalisations
      Tensor(T, T, OptT), Tensor(T, T, OptT, SymIntArrayRef, SymIntArrayRef, SymIntArrayRef, SymInt),
      Tensor(T, T, OptT, SymIntArrayRef, c10::string_view, SymIntArrayRef, SymInt),
      Tensor(T, OptT, OptT, OptT, OptT, bool, double, double, bool),
      Tensor(T, SymIntArrayRef, OptT, OptT, double, bool), Tensor(T, SymIntArrayRef, OptT, std::optional<double>),
      Tensor(T, int64_t, OptT, OptT, double, bool), Tensor(T, T, T, const Scalar&, const Scalar&),
      Tensor(T, T, T, OptT, double, bool, std::optional<double>, bool), Tensor(T, T, SymInt, bool, bool),
      Tensor(T, double, bool), Tensor(T, int64_t, T), Tensor(T, int64_t, T, bool),
      // pooling and interpolation
      Tensor(T, Ints, Ints, Ints, Ints, bool), Tensor(T, Ints, Ints, Ints, bool, bool, std::optional<int64_t>),
      Tensor(T, at::OptionalSymIntArrayRef, bool, std::optional<at::ArrayRef<double>>),
      Tensor(T, at::OptionalSymIntArrayRef, std::optional<at::ArrayRef<double>>)>();
}

}  // namespace passnet::runtime::direct
