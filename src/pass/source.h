// A pass on disk: Name.py (pattern, replacement_args, host plan, replacement_func) and its kernels beside it.
// The Python text is data: parsed here, never executed.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/file/source_files.h"
#include "base/result.h"
#include "ir/graph.h"
#include "pass/plan/plan.h"

namespace passnet::pass {

struct Pass {
  std::string name;            // file stem
  std::filesystem::path path;  // Name.py
  std::shared_ptr<const std::string> text;
  ir::Graph pattern;
  Plan plan;                          // replacement_args and the host plan, with the files beside it that it imports
  std::filesystem::path cpu_source;   // Name.cpp, empty when absent
  std::filesystem::path cuda_source;  // Name.cu, empty when absent
  bool has_triton = false;            // @triton.jit functions in Name.py or a file that it imports
  SourceFiles files = SourceFiles();  // that it was read from, and its kernels are
};

/// Errors: Io; BadPass at file:line:col for anything outside the pattern or plan language, a missing
/// function, a replacement_func that returns an unknown name, too many steps (kLoading). Resource "interrupted".
/// files: that it is read from; without them, those of its directory.
Result<Pass> load_pass(const SourceFiles& files, const std::filesystem::path& path, const LoadOptions& options = {});
Result<Pass> load_pass(const std::filesystem::path& path, const LoadOptions& options = {});

/// The files beside a pass that it may import, whether or not they can be read as plans. path: of Name.py.
std::vector<std::filesystem::path> imported_files(const SourceFiles& files, const std::filesystem::path& path);

/// Lists the passes of a pass_dir in the order in which they apply.
inline constexpr std::string_view kListFile = "sorted_output_pass_rule_names.json";

/// The names in the text of a sorted_output_pass_rule_names.json.
/// Errors: BadInput: not a JSON list of strings, a name twice, a name with directories. An empty list is one: who writes it
/// leaves every graph as it is.
Result<std::vector<std::string>> parse_pass_names(const std::string& file, std::string_view text);

/// The passes of a pass_dir in the order of sorted_output_pass_rule_names.json, or of another list in it.
/// Errors: BadInput: list file absent, malformed (not a JSON list of strings), a name twice, a named
/// pass without Name.py (with the nearest file name).
Result<std::vector<std::filesystem::path>> list_passes(const SourceFiles& files, const std::filesystem::path& pass_dir,
                                                       std::string_view list_file = kListFile);

/// The pass of a Name.py, or all passes of a pass_dir or of a sample directory, in their order.
/// Errors: as load_pass and list_passes.
Result<std::vector<Pass>> load_passes(const std::filesystem::path& path, const LoadOptions& options = {});

}  // namespace passnet::pass
