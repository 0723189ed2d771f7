// Places of files of Python: in the environment that the running program was installed into, else where it was built.
#pragma once

#include <filesystem>
#include <string>

#include "base/result.h"

namespace passnet::pass {

/// The directory that holds the package torch and those that it depends on.
std::filesystem::path python_packages();

/// The directory that holds our own package of that name, "passnet_triton". Errors: Resource: it is not installed.
Result<std::filesystem::path> find_scripts(const std::string& package);

}  // namespace passnet::pass
