// A family of bundles in one text file of the corpus. block_text.h says how fields and texts are written.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "selftest/expectation.h"
#include "selftest/special_file.h"

namespace passnet::selftest {

struct FileText {
  std::string name;
  std::string text;
};

/// A bundle of a family file, with the fields of the family's head filled in.
struct BundleText {
  std::string name;  // "state_call_count", "controls/gpu/relu"
  Expectation expected;
  std::vector<FileText> pass_dir;
  std::vector<SpecialFile> specials = {};
};

/// Reads a family file. The head, above the first "bundle NAME", has the family's fields. They hold for each bundle that
/// has none of its own. Fields have the names of those of expect.json, and ", " between the items of a list. Those of
/// pass_dir:
///   host p.py      host code as text. A line "@" in it stands for the text of
///   plan           lines, each indented as the "@" is
///   kernel p.cpp   source as text; without name and text: no kernel
///   list           sorted_output_pass_rule_names.json as text; without this field: the names of the host code
///   special        what stands in the place of a file or directory (special_file.h)
/// `host`, `kernel` and `special` may stand several times. Those of a bundle replace all of the family's.
/// file:   as errors name it.
/// Errors: BadInput at the field: refused by parse_block_text; an unknown field, one that stands twice or is missing; a
///         value or a text that is missing or of another form.
Result<std::vector<BundleText>> parse_family(std::string_view text, const std::string& file);

}  // namespace passnet::selftest
