// Where the variables of a running plan live.
#pragma once

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "pass/plan/syntax.h"
#include "pass/plan/value.h"

namespace passnet::pass {

/// The variables of a file, or of one call of a function.
struct Frame {
  const PlanProgram* program = nullptr;  // whose text runs
  const Function* function = nullptr;    // null: the file itself
  Frame* file = nullptr;                 // of the file, where `global` variables are; itself for a file
  Frame* outer = nullptr;                // of the function that this one was made in; null: the file
  size_t outers = 0;                     // that one, its own, …
  std::unordered_map<std::string_view, Value> variables;
  Value result;
  bool is_kept = false;  // a function was made in it, which may be called after it
};

/// A `@triton.jit` function with what its other decorators say.
struct KernelObject {
  const JitKernel* kernel = nullptr;
  Frame* file = nullptr;
  std::vector<std::shared_ptr<const Configuration>> configurations;  // of @triton.autotune
  std::vector<std::pair<std::string, Value>> heuristics;             // constant, function of the arguments by name
  std::set<std::string, std::less<>> chosen;                         // constants that these or those give
};

}  // namespace passnet::pass
