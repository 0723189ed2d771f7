// Writes a new pass into a pass_dir: `passnet pass new`.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"

namespace passnet::pass {

/// The files of a pass.
struct PassTexts {
  std::string python, cpp, cuda;  // Name.py, Name.cpp, Name.cu; an empty `cuda` gives no file
};

/// Writes the files of pass NAME into `pass_dir` and appends NAME to sorted_output_pass_rule_names.json there. Returns
/// the files written.
/// Errors: BadInput (NAME is not a Python identifier, a file of that name exists: nothing is overwritten, the list file
/// is malformed), Io.
Result<std::vector<std::filesystem::path>> write_pass(const std::filesystem::path& pass_dir, const std::string& name,
                                                      const PassTexts& texts);

/// A working pass to start from: writes NAME.py and NAME.cpp (a fused add + relu), else as write_pass.
Result<std::vector<std::filesystem::path>> write_template(const std::filesystem::path& pass_dir,
                                                          const std::string& name);

}  // namespace passnet::pass
