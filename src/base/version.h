// What this program was built from; version.cpp is written by cmake/write_version.cmake.
#pragma once

#include <string>

namespace passnet {

/// "0.1.0"
extern const char* const kVersion;
/// "e08ac8b1f3d2"; "unknown" when the sources were no git checkout.
extern const char* const kCommit;
/// "2.11.0": of the PyTorch that the worker was built with; "none" when there is no worker.
extern const char* const kTorchVersion;

/// "passnet 0.1.0 (commit e08ac8b1f3d2, PyTorch 2.11.0)"
std::string version_text();

}  // namespace passnet
