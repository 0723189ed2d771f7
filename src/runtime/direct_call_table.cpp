// The C++ signatures that most operators share. An operator whose signature is here is called without boxing;
// all others go through the boxed interface, which is right but slower. A signature costs about 0.2 s of
// compile time.
#include <unordered_map>

#include "runtime/direct_call.h"

namespace passnet::runtime {

namespace {

using Factory = std::unique_ptr<Step> (*)(const Overload&, const std::vector<ArgSource>&,
                                          const std::vector<int32_t>&);

template <class Signature>
std::unique_ptr<Step> make(const Overload& overload, const std::vector<ArgSource>& sources,
                           const std::vector<int32_t>& outs) {
  return std::make_unique<direct::DirectCall<Signature>>(overload, sources, outs);
}

using Table = std::unordered_map<std::string, Factory>;

template <class... Signature>
Table table_of() {
  Table table;
  (table.emplace(direct::DirectCall<Signature>::signature(), &make<Signature>), ...);
  return table;
}

using at::MemoryFormat, at::OptionalIntArrayRef, at::Scalar, at::ScalarType, at::Tensor, at::TensorList;
using c10::SymInt, c10::SymIntArrayRef;
using T = const Tensor&;
using OptT = const std::optional<Tensor>&;
using Ints = at::IntArrayRef;
using OptType = std::optional<ScalarType>;

const Table& table() {
  static const Table instance = table_of<
      // element by element
      Tensor(T), Tensor(T, T), Tensor(T, T, const Scalar&), Tensor(T, const Scalar&),
      Tensor(T, const Scalar&, const Scalar&), Tensor(T, T, T), Tensor(T, T, T, const Scalar&),
      Tensor(T, c10::string_view), Tensor(const Scalar&, T),
      Tensor(T, const std::optional<Scalar>&, const std::optional<Scalar>&),
      Tensor(T, T, const Scalar&, const Scalar&), Tensor&(Tensor&), Tensor&(Tensor&, T),
      Tensor&(Tensor&, T, const Scalar&), Tensor&(Tensor&, const Scalar&), Tensor&(Tensor&, T, bool),
      Tensor&(Tensor&, const Scalar&, const Scalar&),
      // views and layouts
      Tensor(T, SymIntArrayRef), Tensor(T, Ints), Tensor(T, int64_t, int64_t), Tensor(T, int64_t),
      Tensor(T, MemoryFormat), Tensor(T, SymIntArrayRef, bool), Tensor(T, int64_t, SymInt),
      Tensor(T, int64_t, int64_t, int64_t),
      Tensor(T, int64_t, std::optional<SymInt>, std::optional<SymInt>, SymInt),
      Tensor(T, std::optional<MemoryFormat>), Tensor(T, int64_t, SymInt, SymInt),
      std::vector<Tensor>(T, int64_t), std::vector<Tensor>(T, int64_t, int64_t),
      std::vector<Tensor>(T, SymInt, int64_t), std::vector<Tensor>(T, SymIntArrayRef, int64_t),
      Tensor(T, ScalarType, bool, bool, std::optional<MemoryFormat>), Tensor(TensorList, int64_t),
      Tensor(TensorList), Tensor(T, SymIntArrayRef, Ints),
      Tensor(T, SymIntArrayRef, c10::string_view, std::optional<double>),
      // reductions
      Tensor(T, OptionalIntArrayRef, bool, OptType), Tensor(T, int64_t, OptType), Tensor(T, OptType),
      Tensor(T, Ints, bool), Tensor(T, OptionalIntArrayRef, bool),
      Tensor(T, const Scalar&, OptionalIntArrayRef, bool, OptType), Tensor(T, int64_t, bool),
      std::tuple<Tensor, Tensor>(T, int64_t, bool), Tensor(T, std::optional<int64_t>, bool),
      // products, convolutions, normalisations
      Tensor(T, T, OptT), Tensor(T, T, OptT, SymIntArrayRef, SymIntArrayRef, SymIntArrayRef, SymInt),
      Tensor(T, T, OptT, SymIntArrayRef, c10::string_view, SymIntArrayRef, SymInt),
      Tensor(T, OptT, OptT, OptT, OptT, bool, double, double, bool),
      Tensor(T, SymIntArrayRef, OptT, OptT, double, bool),
      Tensor(T, SymIntArrayRef, OptT, std::optional<double>), Tensor(T, int64_t, OptT, OptT, double, bool),
      Tensor(T, T, T, const Scalar&, const Scalar&),
      Tensor(T, T, T, OptT, double, bool, std::optional<double>, bool), Tensor(T, T, SymInt, bool, bool),
      Tensor(T, double, bool), Tensor(T, int64_t, T), Tensor(T, int64_t, T, bool),
      // pooling and interpolation
      Tensor(T, Ints, Ints, Ints, Ints, bool),
      Tensor(T, Ints, Ints, Ints, bool, bool, std::optional<int64_t>),
      Tensor(T, at::OptionalSymIntArrayRef, bool, std::optional<at::ArrayRef<double>>),
      Tensor(T, at::OptionalSymIntArrayRef, std::optional<at::ArrayRef<double>>)>();
  return instance;
}

/// Operators whose list of tensors arrives as ITensorListRef, which a schema does not tell.
const Table& any_list_table() {
  static const Table instance = table_of<Tensor(const at::ITensorListRef&, int64_t)>();
  return instance;
}

}  // namespace

std::unique_ptr<Step> make_direct_call(const Overload& overload, const std::vector<ArgSource>& sources,
                                       const std::vector<int32_t>& outs) {
  const bool any_list = overload.handle.operator_name().name == "aten::cat" &&
                        overload.handle.operator_name().overload_name.empty();
  const Table& candidates = any_list ? any_list_table() : table();
  const auto found = candidates.find(overload.signature);
  return found == candidates.end() ? nullptr : found->second(overload, sources, outs);
}

}  // namespace passnet::runtime
