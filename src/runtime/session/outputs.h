// Outputs of calls: given to the peer, kept, compared. Internal to runtime/ (includes torch).
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json/json.h"
#include "base/json/json_indirect.h"
#include "record/record.h"
#include "runtime/tensor/rows.h"
#include "runtime/tensor/shared_tensors.h"
#include "wire/bundle.h"

namespace passnet::runtime {

/// An output of a call: a tensor, or the VALUE of what is none; neither: there is no such output.
struct CallOutput {
  at::Tensor tensor;
  IndirectJson scalar;
  /// The shape of the tensor of which `tensor` is some rows; empty: it is whole.
  std::vector<int64_t> rows_of = {};

  /// Of the whole tensor. REQUIRES: it is one.
  at::IntArrayRef sizes() const { return rows_of.empty() ? tensor.sizes() : at::IntArrayRef(rows_of); }
};

/// What a call left behind: its outputs, and the inputs that it changed, by name, as they are now.
struct CallResult {
  std::vector<CallOutput> outputs;
  std::map<std::string, CallOutput> inputs;
};

/// "out_0", "out_1", …
std::string output_name(size_t index);
/// "in_x": the input x after a call.
std::string changed_input_name(const std::string& input);
/// The reverse; nullopt: the name of something else.
std::optional<std::string> changed_input(std::string_view name);

/// The results of a call, as the peer gets them.
struct CallOutputs {
  /// "out_0", …; outputs that are not tensors are left out. Then "in_NAME": inputs that the call changed, as it left them.
  SharedTensors tensors;
  uint64_t rows_seed = 0;                    // of the rows that stand for large tensors (runtime/tensor/rows.h)
  IndirectJson scalars;                      // of those that are no tensors, by name
  std::vector<record::Layout> layouts = {};  // by output
  int64_t peak_bytes = 0;  // most memory of tensors that the call held at a time, beside inputs and constants
};

/// What a call returned; tensors where they lie.
std::vector<CallOutput> call_outputs(const std::vector<c10::IValue>& values);

/// How the tensors among the values lie in memory; inputs: those that the call got, by name. Entry i is of value i.
std::vector<record::Layout> layouts_of(const std::vector<c10::IValue>& values,
                                       const std::vector<std::string>& input_names,
                                       const std::vector<at::Tensor>& inputs);

/// What calls left behind, to be shared: of tensors with more than `most` elements the rows that are drawn with a seed.
class SharedResults {
 public:
  explicit SharedResults(int64_t most) : most_(most) {}
  /// prefix: before the names of this call's tensors and scalars.
  void add(const CallResult& result, const std::string& prefix, uint64_t seed);
  const std::vector<std::string>& names() const { return names_; }
  const std::vector<at::Tensor>& tensors() const { return tensors_; }
  /// shared: of tensors().
  CallOutputs finish(SharedTensors shared);

 private:
  void add(std::string name, const at::Tensor& tensor, uint64_t seed);

  int64_t most_;
  std::vector<std::string> names_;
  std::vector<at::Tensor> tensors_;
  std::vector<std::vector<int64_t>> rows_of_;
  IndirectJson scalars_ = IndirectJson::object();
};

/// Another worker's outputs, in order. tensors: by entry; scalars: by name.
std::vector<CallOutput> shared_outputs(const std::vector<wire::Entry>& entries, const std::vector<at::Tensor>& tensors,
                                       const Json& scalars);

/// Those rows of a value that `found` is, or is of; both on the CPU.
struct SameRows {
  CallOutput expected, found;
  Rows rows;
};
/// seed, most: as `found` was shared. What has no such rows stays as it is.
SameRows same_rows(const CallOutput& expected, const CallOutput& found, uint64_t seed, int64_t most);

/// A complex tensor as its real and imaginary parts, in one more dimension; others as they are.
at::Tensor as_real(const at::Tensor& tensor);
/// Views complex values of both sides as real ones. The rows stay those of the complex values.
SameRows real_parts(SameRows same);

/// One output against another.
record::OutputCheck check_output(const CallOutput& expected, const CallOutput& found);

/// One check per output, in order, as many as the longer side has.
std::vector<record::OutputCheck> check_outputs(const std::vector<CallOutput>& expected,
                                               const std::vector<CallOutput>& found);

}  // namespace passnet::runtime
