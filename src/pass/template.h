// Writes a new pass into a pass_dir: `passnet pass new`.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"

namespace passnet::pass {

/// The files of a pass.
struct PassTexts {
  std::string name;
  std::string python, cpp, cuda;  // Name.py, Name.cpp, Name.cu; an empty one gives no file
};

/// Writes the files of passes into `pass_dir` and appends their names to sorted_output_pass_rule_names.json there. Returns
/// the files written.
/// Errors: BadInput (a name is not a Python identifier, a file of that name exists: nothing is written then, the list file
/// is malformed), Io.
Result<std::vector<std::filesystem::path>> write_passes(const std::filesystem::path& pass_dir,
                                                        const std::vector<PassTexts>& passes);

/// A working pass to start from: writes NAME.py and NAME.cpp (a fused add + relu), else as write_passes.
Result<std::vector<std::filesystem::path>> write_template(const std::filesystem::path& pass_dir,
                                                          const std::string& name);

}  // namespace passnet::pass
