// Building a seccomp filter: rules in order, the first that fits a system call decides.
#pragma once

#include <linux/filter.h>

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "base/result.h"

namespace passnet::sandbox {

class Filter {
 public:
  /// Kills whatever calls by another processor's numbers.
  Filter();

  void allow(long number);
  void answer(long number, int error);
  /// Refused when the argument has all of `bits`; else a later rule decides.
  void refuse_with(long number, uint32_t argument, uint32_t bits);
  /// Allowed when the low half of the argument has none of `bits`.
  void allow_without(long number, uint32_t argument, uint32_t bits);
  /// Allowed when the argument has all of `bits`.
  void allow_with(long number, uint32_t argument, uint32_t bits);
  /// Allowed unless the bits of the argument under `mask` are `value`.
  void allow_unless(long number, uint32_t argument, uint32_t mask, uint32_t value);
  /// Allowed when the argument, as a number of 32 bits, is one of `values`.
  void allow_values(long number, uint32_t argument, std::initializer_list<uint32_t> values);
  /// The last rule: everything else is answered with EPERM.
  void refuse();

  /// An array of the kernel's struct sock_filter.
  std::string bytes() const;
  /// For all threads of this process. Returns: false when the kernel refuses.
  bool install();

 private:
  void add(int operation, uint32_t operand, uint8_t if_true = 0, uint8_t if_false = 0);
  void allow_masked(long number, uint32_t argument, uint32_t mask, uint32_t value, bool when_equal);
  void load(size_t offset);
  void load_argument(uint32_t argument);

  std::vector<sock_filter> code_;
};

/// What every process needs that computes: memory, threads, clocks, descriptors that are open, looking at files.
void allow_computing(Filter& filter);

}  // namespace passnet::sandbox
