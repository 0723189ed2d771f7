// Inputs for timed calls, a set for each, drawn anew before a block of calls; both workers start their calls from the
// same. What is small lies in memory that the reference fills; large tensors each worker puts together by itself, so
// that they need not be carried from one to the other. Internal to runtime/ (includes torch).
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/file/file.h"
#include "base/result.h"
#include "graphdir/inputs/meta.h"
#include "runtime/session/inputs/input_set.h"
#include "runtime/tensor/shared_tensors.h"
#include "wire/bundle.h"

namespace passnet::runtime {

class CallSets {
 public:
  /// entries: of set 0; set k lies k * stride bytes after it.
  CallSets(std::vector<wire::Entry> entries, int64_t stride, int64_t sets, wire::Mapping memory);

  struct Like {
    const InputSet& inputs;
    const graphdir::Metas& metas;  // the graph's records
    int64_t outputs_bytes = 0;     // of a call, which are kept as long as the set is
    int64_t room_bytes = 0;        // for all sets
    bool whole = false;            // every tensor lies in the memory, for a peer that puts none together
  };
  /// `wanted` sets, or as many as there is room for; fd: receives their memory. Errors: Resource, Io.
  static Result<std::unique_ptr<CallSets>> make(const Like& like, int64_t wanted, UniqueFd* fd);

  int64_t size() const { return sets_; }
  int64_t stride() const { return stride_; }
  const std::vector<wire::Entry>& entries() const { return entries_; }

  /// Draws what lies in the memory anew for the first `count` sets. metas: small tensors are drawn from them as replay
  /// draws them. Large ones, and those without a record, are put together from runs of elements of `like` in a
  /// random order, so that each call sees the same kind of values and never the same values. What a record gives
  /// literally, and what decides shapes, stays as it is, in another order where that is allowed. draw: false fills them all with `like`. REQUIRES: made by make() from `like`.
  /// Errors: as graphdir::replay.
  Result<void> renew(const InputSet& like, const graphdir::Metas& metas, uint64_t seed, int64_t count,
                     bool draw = true);
  /// What renew() was last called with, where that was in another process.
  void follow(uint64_t seed, bool draw) { seed_ = seed, draw_ = draw; }
  /// Makes fill() put a few values that are far from the others at random places of these arguments; or, wider, as wide a spread as
  /// their records have.
  void plant(std::vector<std::string> names, bool wider) { planted_ = std::move(names), wider_ = wider; }
  bool has_planted() const { return !planted_.empty(); }

  /// Gives `to` the values of argument `name` in a set. like: the argument as it was set; both contiguous, on the graph's
  /// device.
  void fill(int64_t set, const std::string& name, const at::Tensor& like, at::Tensor& to);

 private:
  void fill_evenly(int64_t set, const std::string& name, const at::Tensor& like, at::Tensor& to) const;

  std::vector<wire::Entry> entries_;
  int64_t stride_ = 0, sets_ = 0;
  wire::Mapping memory_;
  uint64_t seed_ = 0;
  bool draw_ = true;
  std::vector<std::string> planted_;
  bool wider_ = false;
  std::map<std::string, double> sizes_;  // of planted values, by argument: negative ones are of either sign
};

}  // namespace passnet::runtime
