// Lists the files of this machine that a candidate in Python needs: its jail shows these and the passes alone.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/file/source_files.h"
#include "base/result.h"

namespace passnet::run {

struct PythonFacts {
  std::string versions;            // "Python 3.11.2, torch 2.11.0, triton 3.6.0"
  std::vector<std::string> files;  // the interpreter, its standard library, its packages, PyTorch and Triton
};
/// Asks the Python at that path, once per path. Errors: Resource: it has no PyTorch.
Result<PythonFacts> ask_python(const std::string& python);

/// Returns: the system's programs, libraries and headers, and facts about the processor; with `gpu` also CUDA, its driver and
/// its devices.
std::vector<std::string> system_files(bool gpu);

/// Copies passes and the regular files below their directories to `directory`, each to the path that it has below "/".
/// Names that begin with "." and compiled Python are left out. A directory is copied once.
/// Returns: where the passes are then, in their order.
/// Errors:  as SourceFiles::read (a link, a pipe, …); BadInput: more than 1000 files; Io.
Result<std::vector<std::filesystem::path>> copy_passes(const std::vector<std::filesystem::path>& passes,
                                                       const SourceFiles& sources,
                                                       const std::filesystem::path& directory);

}  // namespace passnet::run
