// Reads a pass file (Name.py): imports and decorators are passed over, @triton.jit functions and `pattern`
// are left to others, everything else is parsed as the plan language.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "pass/plan/syntax.h"

namespace passnet::pass {

inline constexpr size_t kMaxPassBytes = size_t{1} << 20;

struct PassFile {
  std::shared_ptr<PlanProgram> program;
  std::optional<size_t> pattern_offset;  // of `def pattern`, for fx::parse_function
  std::string_view entry;                // what replacement_func returns; empty when there is no replacement_func
  uint32_t entry_offset = 0;             // where it stands
};

/// Errors: BadPass at file:line:col for anything outside the language, for a name that is not defined
/// anywhere, for a function defined twice, for a replacement_func that does not return the name of a function
/// of the file.
Result<PassFile> parse_pass_file(std::string file, std::shared_ptr<const std::string> text);

}  // namespace passnet::pass
