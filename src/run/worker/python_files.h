// Which files of this machine a candidate in Python is made of: all that its jail shows besides the passes.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/source_files.h"

namespace passnet::run {

struct PythonFacts {
  std::string versions;            // "Python 3.11.2, torch 2.11.0, triton 3.6.0"
  std::vector<std::string> files;  // the interpreter, its standard library, its packages, PyTorch and Triton
};
/// Asks the Python at that path, once per path. Errors: Resource: it has no PyTorch.
Result<PythonFacts> ask_python(const std::string& python);

/// What compilers and libraries of the system need, and how many processors there are; with `gpu` CUDA, its driver and its
/// devices too.
std::vector<std::string> system_files(bool gpu);

/// Copies passes and the regular files below their directories to `directory`, each to the path that it has below "/".
/// What begins with "." and compiled Python stay behind. What was copied before is not copied again.
/// Returns: where the passes are then, in their order.
/// Errors:  as SourceFiles::read (a link, a pipe, …); BadInput: more than 1000 files; Io.
Result<std::vector<std::filesystem::path>> copy_passes(const std::vector<std::filesystem::path>& passes,
                                                       const SourceFiles& sources,
                                                       const std::filesystem::path& directory);

}  // namespace passnet::run
