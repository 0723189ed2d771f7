// Which files of this machine a compiler is made of: all that the compile jail shows besides the headers.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace passnet::pass {

struct ToolFiles {
  std::vector<std::string> paths;         // programs, loaders and libraries, directories of headers
  std::vector<std::string> library_path;  // directories of the libraries: the jail has no ld.so.cache
};

/// The loader and the shared libraries that these programs and libraries load at start, by the loader's own word.
/// Errors: Resource for a file that is no ELF file, or whose libraries are not found.
Result<ToolFiles> loaded_files(const std::vector<std::string>& binaries);

/// A g++ with what it runs to compile and link: cc1plus, as, collect2, ld. Found once per path. Errors: Resource.
Result<ToolFiles> compiler_files(const std::string& gpp);

/// What the jail shows and sets for a run of the compiler with these files; nothing, and a warning in the log, when
/// they could not be found: the jail then shows all files.
ToolFiles files_or_warn(const std::string& compiler, Result<ToolFiles> files);

/// Which version a file is, for the key of the cache: its path, size and time.
std::string file_version(const std::string& file);

}  // namespace passnet::pass
