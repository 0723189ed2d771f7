// Which passes of a sample are listed, and in which order they apply: its own, those that are given beside them, and an
// order of the caller's.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/file/source_files.h"
#include "base/result.h"

namespace passnet::pass {

/// What is asked for beside the list of a pass_dir. The limits hold for the passes of pass_dir alone, in the order of
/// their list; docs/passes.md, "Which passes apply", has upstream's names for all of it.
struct Selection {
  std::filesystem::path given = {};        // directory of passes that are given, with kGivenListFile; empty: none
  std::vector<std::string> order = {};     // names of all passes, or of all given ones; empty: as listed
  std::optional<int> pattern_limit = {};   // distinct patterns; none: any number
  std::optional<int> function_limit = {};  // distinct functions that replacement_func gives; none: any number
};

/// Lists the passes of a directory of given ones. One in a pass_dir is another order of the same names.
inline constexpr const char* kGivenListFile = "sorted_input_pass_rule_names.json";

/// The passes of a sample by name, as listed.
struct Listing {
  std::vector<std::filesystem::path> given, own;  // Name.py, each in the order of its list
  std::vector<std::string> order;  // in which the names apply; a name may be in both lists: its own counts
};

/// pass_dir: may lack its list, or have an empty one, where passes are given.
/// Errors:   as list_passes, of either directory; BadInput: an order that is no permutation of what is listed, with the
///           names that differ.
Result<Listing> list_selected(const SourceFiles& files, const std::filesystem::path& pass_dir,
                              const Selection& selection);

/// The names in a file that orders passes: a JSON list of strings. Errors: as read_file and parse_pass_names.
Result<std::vector<std::string>> read_pass_order(const std::filesystem::path& file);

}  // namespace passnet::pass
