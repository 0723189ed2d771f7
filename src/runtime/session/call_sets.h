// Inputs for timed calls, a set for each: the reference draws them anew before a block of calls, and both workers start
// their calls from them. Internal to runtime/ (includes torch).
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "graphdir/meta.h"
#include "runtime/session/input_set.h"
#include "runtime/tensor/shared_tensors.h"
#include "wire/bundle.h"

namespace passnet::runtime {

/// Sets of the same tensors one after the other in one memory.
class CallSets {
 public:
  /// entries: of set 0; set k lies k * stride bytes after it.
  CallSets(std::vector<wire::Entry> entries, int64_t stride, int64_t sets, wire::Mapping memory);
  /// As many sets as there is room for, at most `wanted`, for tensors like those of `like`; fd: receives their memory.
  /// Errors: Resource, Io.
  static Result<std::unique_ptr<CallSets>> make(const InputSet& like, int64_t wanted, UniqueFd* fd);

  int64_t size() const { return sets_; }
  int64_t stride() const { return stride_; }
  const std::vector<wire::Entry>& entries() const { return entries_; }
  /// The tensors of a set for the arguments `names`. Errors: BadInput: one is not among them.
  Result<std::vector<at::Tensor>> tensors(int64_t set, const std::vector<std::string>& names) const;

  /// Draws the first `count` sets anew. metas: the graph's records; small tensors are drawn from them as replay draws
  /// them. Large ones, and those without a record, are put together from runs of elements of `like`, taken from random
  /// places, so that each call sees the same kind of values and never the same values. What a record gives literally
  /// stays as it is. draw: false fills them all
  /// with `like`. REQUIRES: made by make(). Errors: as graphdir::replay.
  Result<void> renew(const InputSet& like, const graphdir::Metas& metas, uint64_t seed, int64_t count,
                     bool draw = true);

 private:
  std::vector<wire::Entry> entries_;
  int64_t stride_ = 0, sets_ = 0;
  wire::Mapping memory_;
};

}  // namespace passnet::runtime
